// Command image writes the container image for several platforms, from nothing, as
// the tar of an OCI image layout: image OUT VERSION COMMIT NOTICES ARCH=BINARY….
// SOURCE_DATE_EPOCH is the time of everything inside, so that the same program gives
// the same image.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 5 {
		return errors.New("usage: image OUT VERSION COMMIT NOTICES ARCH=BINARY…")
	}
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	notices, err := os.ReadFile(args[3])
	if err != nil {
		return err
	}
	r := release{version: args[1], commit: args[2], made: time.Unix(epoch, 0).UTC()}
	l := layout{blobs: map[string][]byte{}}
	base, err := l.layer(r.made, baseFiles())
	if err != nil {
		return err
	}
	var images []descriptor
	for _, arg := range args[4:] {
		arch, file, _ := strings.Cut(arg, "=")
		binary, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		program, err := l.layer(r.made, programFiles(binary, notices))
		if err != nil {
			return err
		}
		image, err := l.image(r, arch, base, program)
		if err != nil {
			return err
		}
		images = append(images, image)
	}
	if err := l.index(r, images); err != nil {
		return err
	}
	out, err := os.Create(args[0])
	if err != nil {
		return err
	}
	return errors.Join(l.write(out, r.made), out.Close())
}

// release is what an image says of itself.
type release struct {
	version, commit string
	made            time.Time
}
