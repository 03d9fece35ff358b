package console

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
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
	name, url, contentType string
	body                   []byte
}

// The names of what all styles and all modules are put into.
const (
	stylesFile  = "console.css"
	modulesFile = "console.js"
)

// imports finds what a module that is a part of a file cannot have.
var imports = regexp.MustCompile(`(?m)^(?:import|export)\b`)

// themeModule runs before a page is shown, by itself; the others are one file.
const themeModule = "theme.js"

// assets are files served under URLs that change with their content, so that
// browsers may keep them for ever. A page asks for few of them: all styles are one
// file and all modules another, in the order in which they were added.
type assets struct {
	byName, byURL map[string]*asset
	styles        []*asset
	modules       []*asset
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
		if assetTypes[ext] == "" {
			return fmt.Errorf("console: the asset %s is neither CSS, JavaScript nor SVG", name)
		}
		if a.byName[name] != nil {
			return fmt.Errorf("console: two assets are named %s", name)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("console: asset %s: %w", name, err)
		}
		f := newAsset(name, body)
		a.byName[name] = f
		switch {
		case ext == ".css":
			a.styles = append(a.styles, f)
		case ext == ".js" && name != themeModule:
			a.modules = append(a.modules, f)
		default:
			a.byURL[f.url] = f
		}
		return nil
	})
}

func newAsset(name string, body []byte) *asset {
	sum, ext := sha256.Sum256(body), path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	return &asset{name: name, url: "/assets/" + hashed, contentType: assetTypes[ext], body: body}
}

// bundle makes one file of all styles and one of all modules. Each module keeps its
// names to itself, and one that fails leaves the others alone. A request for a file
// that is in one of them gets that one, which a browser loads and runs once.
func (a *assets) bundle() error {
	slices.SortStableFunc(a.styles, func(x, y *asset) int { return cmp.Compare(layer(x.name), layer(y.name)) })
	var styles, modules bytes.Buffer
	for _, f := range a.styles {
		styles.Write(f.body)
		styles.WriteByte('\n')
	}
	for _, f := range a.modules {
		if imports.Match(f.body) {
			return fmt.Errorf("console: the asset %s imports or exports: modules of the console stand by themselves", f.name)
		}
		fmt.Fprintf(&modules, "// %s\ntry {\n%s\n} catch (error) {\n  reportError(error);\n}\n", f.name, f.body)
	}
	a.replace(newAsset(stylesFile, styles.Bytes()), a.styles)
	a.replace(newAsset(modulesFile, modules.Bytes()), a.modules)
	return nil
}

// layers is the order of the shell's styles: what is later may change what was before.
// Those of the wings follow.
var layers = []string{"base.css", "layout.css", "parts.css", "forms.css", "list.css", "detail.css"}

func layer(name string) int {
	if i := slices.Index(layers, name); i >= 0 {
		return i
	}
	return len(layers)
}

func (a *assets) replace(bundle *asset, parts []*asset) {
	a.byName[bundle.name], a.byURL[bundle.url] = bundle, bundle
	for _, f := range parts {
		a.byName[f.name] = bundle
	}
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
