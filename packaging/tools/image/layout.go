package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// The media types of the parts of an image: github.com/opencontainers/image-spec.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`

	diffID string // of a layer: its digest before it was compressed
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// manifest is the manifest of an image, or an index of several images.
type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        *descriptor       `json:"config,omitempty"`
	Layers        []descriptor      `json:"layers,omitempty"`
	Manifests     []descriptor      `json:"manifests,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// layout is what is written: blobs, and the index that leads to them.
type layout struct {
	blobs map[string][]byte // by digest
	top   manifest
}

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

func (l *layout) add(kind string, b []byte) descriptor {
	d := digest(b)
	l.blobs[d] = b
	return descriptor{MediaType: kind, Digest: d, Size: len(b)}
}

func (l *layout) addJSON(kind string, v any) (descriptor, error) {
	b, err := json.Marshal(v)
	return l.add(kind, b), err
}

func (l *layout) layer(made time.Time, files []file) (descriptor, error) {
	var plain, packed bytes.Buffer
	if err := pack(&plain, made, files); err != nil {
		return descriptor{}, err
	}
	gz, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return descriptor{}, err
	}
	if _, err := gz.Write(plain.Bytes()); err != nil {
		return descriptor{}, err
	}
	if err := gz.Close(); err != nil {
		return descriptor{}, err
	}
	d := l.add(typeLayer, packed.Bytes())
	d.diffID = digest(plain.Bytes())
	return d, nil
}

func (l *layout) image(r release, arch string, layers ...descriptor) (descriptor, error) {
	config, err := l.addJSON(typeConfig, configOf(r, arch, layers))
	if err != nil {
		return descriptor{}, err
	}
	image, err := l.addJSON(typeManifest, manifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: &config, Layers: layers, Annotations: r.labels(),
	})
	image.Platform = &platform{arch, "linux"}
	return image, err
}

func (l *layout) index(r release, images []descriptor) error {
	all, err := l.addJSON(typeIndex, manifest{SchemaVersion: 2, MediaType: typeIndex, Manifests: images, Annotations: r.labels()})
	all.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          "outrigger:" + r.version,
	}
	l.top = manifest{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{all}}
	return err
}

// write packs everything into one file.
func (l *layout) write(w io.Writer, made time.Time) error {
	top, err := json.Marshal(l.top)
	if err != nil {
		return err
	}
	files := []file{
		{name: "oci-layout", mode: 0o644, content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, content: top},
		{name: "blobs/", mode: 0o755},
		{name: "blobs/sha256/", mode: 0o755},
	}
	for _, d := range slices.Sorted(maps.Keys(l.blobs)) {
		files = append(files, file{name: "blobs/" + strings.Replace(d, ":", "/", 1), mode: 0o644, content: l.blobs[d]})
	}
	return pack(w, made, files)
}

// pack writes files as a tar archive, all with the same time.
func pack(w io.Writer, made time.Time, files []file) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{
			Name: f.name, Mode: f.mode, Uid: f.uid, Size: int64(len(f.content)), ModTime: made,
			Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return t.Close()
}
