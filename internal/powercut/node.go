package powercut

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// fileNode is a file as FUSE sees it.
type fileNode struct {
	fs.Inode
	disk *Disk
	file *file
}

var (
	_ fs.NodeOpener    = (*fileNode)(nil)
	_ fs.NodeReader    = (*fileNode)(nil)
	_ fs.NodeWriter    = (*fileNode)(nil)
	_ fs.NodeGetattrer = (*fileNode)(nil)
	_ fs.NodeSetattrer = (*fileNode)(nil)
	_ fs.NodeFsyncer   = (*fileNode)(nil)
)

func (n *fileNode) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0 // mapped pages live in the kernel's cache
}

func (n *fileNode) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	size := int64(len(n.file.now))
	from := min(at, size)
	read := copy(into, n.file.now[from:])
	return fuse.ReadResultData(into[:read]), 0
}

func (n *fileNode) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.file.write(at, data)
	return uint32(len(data)), 0
}

func (n *fileNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.file.attributes(&out.Attr)
	return 0
}

func (n *fileNode) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if size, ok := in.GetSize(); ok && size != uint64(len(n.file.now)) {
		n.file.resize(int64(size))
	}
	if mode, ok := in.GetMode(); ok {
		n.file.mode = mode & 0o777
	}
	n.file.attributes(&out.Attr)
	return 0
}

func (n *fileNode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.disk.sync(n.file)
}

func (f *file) attributes(out *fuse.Attr) {
	out.Mode = syscall.S_IFREG | f.mode
	out.Size = uint64(len(f.now))
	out.Blocks = (out.Size + sector - 1) / sector
	out.Nlink = 1
}
