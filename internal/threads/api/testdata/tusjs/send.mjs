// Sends a file with tus-js-client, which goes on by itself where the connection
// breaks: node send.mjs ENDPOINT FILE KIND
import fs from "node:fs";
import { Upload } from "tus-js-client";

const [endpoint, file, kind] = process.argv.slice(2);

new Upload(fs.createReadStream(file), {
  endpoint,
  uploadSize: fs.statSync(file).size,
  chunkSize: 256 * 1024,
  metadata: { kind, filename: file.split("/").pop() },
  headers: { Authorization: "Bearer root" },
  retryDelays: [0, 100, 500],
  onError(error) {
    console.error(String(error));
    process.exitCode = 1;
  },
}).start();
