// Command sbom writes the list of parts of a binary, as CycloneDX 1.6 has it, to
// standard output: sbom BINARY LICENCES VERSION. LICENCES is what `outrigger licenses
// --json` prints. SOURCE_DATE_EPOCH is its time.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// goItself is the name of the standard library and the runtime in LICENCES.
const goItself = "Go"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("usage: sbom BINARY LICENCES VERSION")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	licences, err := readLicences(args[1])
	if err != nil {
		return err
	}
	made, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	bom, err := describe(info, sha256.Sum256(binary), licences, args[2])
	if err != nil {
		return err
	}
	bom.Metadata.Timestamp = time.Unix(made, 0).UTC().Format(time.RFC3339)
	e := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	return e.EncodeVersion(bom, cyclonedx.SpecVersion1_6)
}

// readLicences returns the name of the licence of each module.
func readLicences(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []struct{ Path, Licence string }
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	names := map[string]string{}
	for _, m := range list {
		names[m.Path] = m.Licence
	}
	return names, nil
}

// describe lists what is in a binary. A module without a licence is an error.
func describe(info *debug.BuildInfo, digest [sha256.Size]byte, licences map[string]string, version string) (*cyclonedx.BOM, error) {
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuidOf(digest)
	own := component(cyclonedx.ComponentTypeApplication, "outrigger", version, "Apache-2.0")
	own.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", digest)}}
	bom.Metadata = &cyclonedx.Metadata{Component: &own}
	var parts []cyclonedx.Component
	var refs []string
	add := func(path, licence, version string) error {
		if licence == "" {
			return fmt.Errorf("%s has no licence in the list", path)
		}
		c := component(cyclonedx.ComponentTypeLibrary, path, version, licence)
		parts, refs = append(parts, c), append(refs, c.BOMRef)
		return nil
	}
	if err := add("std", licences[goItself], strings.TrimPrefix(info.GoVersion, "go")); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if err := add(m.Path, licences[m.Path], m.Version); err != nil {
			return nil, err
		}
	}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: own.BOMRef, Dependencies: &refs}}
	return bom, nil
}

func component(kind cyclonedx.ComponentType, path, version, licence string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c := cyclonedx.Component{BOMRef: purl, Type: kind, Name: path, Version: version, PackageURL: purl}
	if strings.Contains(licence, " ") {
		c.Licenses = &cyclonedx.Licenses{{Expression: licence}}
	} else {
		c.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: licence}}}
	}
	return c
}

// uuidOf is a name that belongs to what has the digest, and to nothing else.
func uuidOf(digest [sha256.Size]byte) string {
	d := digest[:16]
	d[6], d[8] = d[6]&0x0f|0x80, d[8]&0x3f|0x80 // version 8: of our own making
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", d[:4], d[4:6], d[6:8], d[8:10], d[10:])
}
