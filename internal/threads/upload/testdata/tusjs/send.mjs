// Sends a file with tus-js-client, breaks off three times on the way, and goes
// on each time with what a user would know, the upload's URL:
// node send.mjs ENDPOINT FILE KIND
import fs from "node:fs";
import { Upload } from "tus-js-client";

const [endpoint, file, kind] = process.argv.slice(2);
const size = fs.statSync(file).size;
const stops = [0.2, 0.5, 0.8].map((part) => Math.floor(size * part));
let interruptions = 0;

function send(uploadUrl) {
  const stop = stops.shift() ?? Infinity;
  let stopped = false;
  const upload = new Upload(fs.createReadStream(file), {
    endpoint,
    uploadUrl,
    uploadSize: size,
    chunkSize: 256 * 1024,
    metadata: { kind, filename: file.split("/").pop() },
    headers: { Authorization: "Bearer admin" },
    retryDelays: [0, 100, 500],
    onProgress(sent) {
      if (stopped || sent < stop) return;
      stopped = true;
      interruptions++;
      upload.abort().then(() => send(upload.url));
    },
    onSuccess() {
      console.log(`${interruptions} interruptions`);
    },
    onError(error) {
      console.error(String(error));
      process.exitCode = 1;
    },
  });
  upload.start();
}

send(null);
