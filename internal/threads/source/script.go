package source

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"time"
)

//go:embed script/threaded-comments-migration.sh
var script []byte

// ArchiveName is what the helper script's archive is called.
const ArchiveName = "threaded-comments-migration.sh.zip"

const scriptName = "threaded-comments-migration.sh"

// Archive is the helper script as a zip archive, the same bytes every time. It
// unpacks to an executable file.
func Archive() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	head := &zip.FileHeader{Name: scriptName, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	head.SetMode(0o755)
	w, err := z.CreateHeader(head)
	if err == nil {
		_, err = w.Write(script)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("packing the helper script: %w", err)
	}
	return out.Bytes(), nil
}
