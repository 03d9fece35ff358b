package format

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"outrigger/internal/fault"
)

const hierarchyFile = `[{"issueId":1,"commentId":2,"parentCommentId":3}, "🛶 é"]`

func gzipped(t testing.TB, content string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type file struct {
	name, content string
	method        uint16
}

func zipped(t testing.TB, files ...file) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(to, f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// raw is an archive whose header knows sizes and checksum, as files have that
// were packed from a disk.
func raw(t testing.TB, name, content string) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	to, err := w.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Store, CRC32: crc(content), CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(to, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func wideText(s string, bigEndian bool) string {
	var out []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		if bigEndian {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return string(out)
}

func TestOpen(t *testing.T) {
	long := strings.Repeat(hierarchyFile, 10_000)
	for name, tc := range map[string]struct{ in, want string }{
		"plain":             {hierarchyFile, hierarchyFile},
		"empty":             {"", ""},
		"two bytes":         {"[]", "[]"},
		"byte order mark":   {"\xef\xbb\xbf" + hierarchyFile, hierarchyFile},
		"UTF-16":            {wideText(long, false), long},
		"UTF-16 big-endian": {wideText(hierarchyFile, true), hierarchyFile},
		"gzip":              {gzipped(t, long), long},
		"gzip with a mark":  {gzipped(t, "\xef\xbb\xbf"+hierarchyFile), hierarchyFile},
		"gzip in parts":     {gzipped(t, hierarchyFile) + gzipped(t, hierarchyFile), hierarchyFile + hierarchyFile},
		"zip":               {zipped(t, file{"h.json", long, zip.Deflate}), long},
		"zip, stored":       {raw(t, "h.json", long), long},
		"zip with clutter": {
			zipped(t, file{"a/", "", zip.Store}, file{"a/.DS_Store", "x", zip.Deflate}, file{"a/h.json", hierarchyFile, zip.Deflate}, file{"__MACOSX/a/._h.json", "y", zip.Deflate}),
			hierarchyFile,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(tc.in), iotest.OneByteReader(strings.NewReader(tc.in))} {
				r, err := Open(in, 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if err != nil || string(got) != tc.want {
					t.Errorf("%d bytes, %v; want %d", len(got), err, len(tc.want))
				}
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	damagedZip := []byte(zipped(t, file{"h.json", hierarchyFile, zip.Deflate}))
	damagedZip[bytes.Index(damagedZip, []byte("PK\x07\x08"))+5] ^= 1
	damagedGzip := []byte(gzipped(t, hierarchyFile))
	damagedGzip[len(damagedGzip)-6] ^= 1
	encryptedZip := []byte(zipped(t, file{"h.json", hierarchyFile, zip.Deflate}))
	encryptedZip[6] |= encrypted
	lzma := []byte(zipped(t, file{"h.json", hierarchyFile, zip.Deflate}))
	lzma[8] = 14
	for name, tc := range map[string]struct {
		in   string
		code fault.Code
		want string
	}{
		"two files":         {zipped(t, file{"1.json", "[]", zip.Deflate}, file{"2.json", "[]", zip.Deflate}), fault.Invalid, `more than one file in it, "1.json" and "2.json"`},
		"a zip in a zip":    {zipped(t, file{"in.zip", zipped(t, file{"1.json", "[]", zip.Deflate}), zip.Deflate}), fault.Invalid, "is a zip archive again; unpack it once"},
		"a gzip in a zip":   {zipped(t, file{"in.gz", "\x1f\x8b\x08\x00", zip.Deflate}), fault.Invalid, "is a gzip file again"},
		"no file":           {zipped(t), fault.Invalid, "empty"},
		"folders only":      {zipped(t, file{"a/", "", zip.Store}), fault.Invalid, "no file"},
		"a damaged zip":     {string(damagedZip), fault.Invalid, "damaged"},
		"a damaged gzip":    {string(damagedGzip), fault.Invalid, "damaged"},
		"an encrypted zip":  {string(encryptedZip), fault.Invalid, "password"},
		"an unknown method": {string(lzma), fault.Invalid, "compression method"},
		"a gzip bomb":       {gzipped(t, strings.Repeat(" ", 1<<21)), fault.TooLarge, "1MiB"},
		"a zip bomb":        {zipped(t, file{"h.json", strings.Repeat(" ", 1<<21), zip.Deflate}), fault.TooLarge, "1MiB"},
		"too long as it is": {strings.Repeat(" ", 1<<20+1), fault.TooLarge, "1MiB"},
	} {
		r, err := Open(strings.NewReader(tc.in), 1<<20)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if !fault.Is(err, tc.code) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", name, err, tc.want)
		}
	}
	r, err := Open(strings.NewReader(strings.Repeat(" ", 1<<20)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, r); n != 1<<20 || err != nil {
		t.Error("a file of exactly the limit:", n, err)
	}
}

// A packed file that is cut off anywhere gives the beginning of what is in it,
// then io.ErrUnexpectedEOF, which decoders take for the end of a cut file.
func TestOpenCutOff(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var content strings.Builder
	content.WriteByte('[')
	for range 2000 {
		content.WriteString(`{"issueId":` + strings.Repeat("1", 1+rnd.IntN(9)) + `,"commentId":2,"parentCommentId":3},`)
	}
	whole := content.String()
	for name, packed := range map[string]string{"gzip": gzipped(t, whole), "zip": zipped(t, file{"h.json", whole, zip.Deflate}), "stored zip": raw(t, "h.json", whole)} {
		end := len(packed)
		if i := strings.Index(packed, "PK\x01\x02"); i > 0 {
			end = i
		}
		for _, at := range []int{5, 29, 40, end / 2, end - 1} {
			r, err := Open(strings.NewReader(packed[:at]), 1<<30)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(r)
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(whole, string(got)) {
				t.Errorf("%s cut off at %d of %d: %d bytes, %v", name, at, len(packed), len(got), err)
			}
			if r, err = Open(strings.NewReader(packed[:at]), 1<<30); err == nil {
				_, reading, err := readHierarchy(r, sourceSize)
				if err != nil || !reading.Truncated {
					t.Error(reading, err)
				}
			}
		}
	}
}

// UTF-16 that ends within a character is cut off, as a packed file can be.
func TestOpenOddBytes(t *testing.T) {
	for name, bigEndian := range map[string]bool{"little-endian": false, "big-endian": true} {
		for _, content := range []string{"", hierarchyFile, strings.Repeat(hierarchyFile, 10_000)} {
			for _, in := range []string{wideText(content, bigEndian) + "[", gzipped(t, wideText(content, bigEndian)+"[")} {
				r, err := Open(strings.NewReader(in), 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				if !errors.Is(err, io.ErrUnexpectedEOF) || string(got) != content {
					t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(content), err)
				}
			}
		}
	}
	r, err := Open(strings.NewReader(wideText(hierarchyFile, false)+"["), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if _, reading, err := readHierarchy(r, sourceSize); err != nil || !reading.Truncated {
		t.Error(reading, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(gzipped(f, hierarchyFile)))
	f.Add([]byte(zipped(f, file{"a/", "", zip.Store}, file{"a/h.json", hierarchyFile, zip.Deflate})))
	f.Add([]byte(raw(f, "h.json", hierarchyFile)))
	f.Add([]byte(wideText(hierarchyFile, false)))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Open(bytes.NewReader(in), 1<<16)
		if err != nil {
			return
		}
		if n, _ := io.Copy(io.Discard, r); n > 3<<16 { // UTF-16 grows by half and a bit
			t.Fatal(n)
		}
	})
}

func crc(s string) uint32 { return crc32.ChecksumIEEE([]byte(s)) }
