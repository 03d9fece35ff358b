package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The user that the program runs as, which is not root. Any other works too, where
// the volume is its own.
const (
	user   = 65532
	passwd = "root:x:0:0:root:/:/sbin/nologin\noutrigger:x:65532:65532:Outrigger:/var/lib/outrigger:/sbin/nologin\n"
	group  = "root:x:0:\noutrigger:x:65532:\n"
)

// dataDir belongs to the group root too, which platforms that choose the user by
// themselves run it with.
const dataDir = "var/lib/outrigger/"

// file is a folder where its name ends with a slash.
type file struct {
	name    string
	mode    int64
	uid     int
	content []byte
}

// baseFiles are those that change seldom.
func baseFiles() []file {
	return []file{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: []byte(group)},
		{name: "etc/outrigger/", mode: 0o755},
		{name: "etc/passwd", mode: 0o644, content: []byte(passwd)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: authorities()},
		{name: "tmp/", mode: 0o1777},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: dataDir, mode: 0o770, uid: user},
	}
}

func programFiles(binary, notices []byte) []file {
	return []file{
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/outrigger", mode: 0o755, content: binary},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: "usr/share/doc/outrigger/", mode: 0o755},
		{name: "usr/share/doc/outrigger/NOTICES.txt", mode: 0o644, content: notices},
	}
}

// authorities are the certificates that Mozilla's programs trust, those with limits
// of their own left out: a file of certificates cannot say them.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return b.Bytes()
}
