package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var shellAssets embed.FS

// assetTypes are the kinds of files that the content security policy lets a
// page use.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

type asset struct {
	url, contentType string
	body             []byte
}

// assets are files served under URLs that change with their content, so that
// browsers may keep them for ever.
type assets struct {
	byName, byURL map[string]*asset
}

func (a *assets) add(files fs.FS) error {
	if a.byName == nil {
		a.byName, a.byURL = map[string]*asset{}, map[string]*asset{}
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		ext := path.Ext(name)
		contentType := assetTypes[ext]
		if contentType == "" {
			return fmt.Errorf("console: the asset %s is neither CSS, JavaScript nor SVG", name)
		}
		if a.byName[name] != nil {
			return fmt.Errorf("console: two assets are named %s", name)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("console: asset %s: %w", name, err)
		}
		sum := sha256.Sum256(body)
		hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		f := &asset{url: "/assets/" + hashed, contentType: contentType, body: body}
		a.byName[name], a.byURL[f.url] = f, f
		return nil
	})
}

// url answers the path of an asset below the base URL.
func (a *assets) url(name string) (string, error) {
	f := a.byName[name]
	if f == nil {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return f.url, nil
}

// serve answers false when urlPath is no asset.
func (a *assets) serve(w http.ResponseWriter, r *http.Request, urlPath string) bool {
	f := a.byURL[urlPath]
	if f == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	w.Header().Set("Content-Type", f.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
	return true
}
