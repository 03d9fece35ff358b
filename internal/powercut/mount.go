package powercut

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount shows the disk at a folder until unmount is called, which fails while
// a program still uses it. It needs Linux with FUSE, and root.
func (d *Disk) Mount(folder string) (unmount func() error, err error) {
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return nil, errors.New("cutting the power needs FUSE: /dev/fuse is missing (modprobe fuse, or in a container --device /dev/fuse " +
			"--cap-add SYS_ADMIN)")
	}
	forget := time.Duration(0) // the kernel asks each time, so that names are always ours
	server, err := fs.Mount(folder, &dirNode{disk: d}, &fs.Options{
		EntryTimeout: &forget,
		AttrTimeout:  &forget,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, DisableXAttrs: true, FsName: "powercut", Name: "powercut"},
	})
	if err != nil {
		return nil, fmt.Errorf("mounting: %w", err)
	}
	return server.Unmount, nil
}

// dirNode is the folder as FUSE sees it.
type dirNode struct {
	fs.Inode
	disk *Disk
}

var (
	_ fs.NodeOnAdder   = (*dirNode)(nil)
	_ fs.NodeCreater   = (*dirNode)(nil)
	_ fs.NodeLinker    = (*dirNode)(nil)
	_ fs.NodeUnlinker  = (*dirNode)(nil)
	_ fs.NodeRenamer   = (*dirNode)(nil)
	_ fs.NodeFsyncer   = (*dirNode)(nil)
	_ fs.NodeGetattrer = (*dirNode)(nil)
)

func (n *dirNode) OnAdd(ctx context.Context) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	for name, f := range n.disk.names {
		n.AddChild(name, n.child(ctx, f), true)
	}
}

func (n *dirNode) child(ctx context.Context, f *file) *fs.Inode {
	return n.NewPersistentInode(ctx, &fileNode{disk: n.disk, file: f}, fs.StableAttr{Mode: syscall.S_IFREG})
}

func (n *dirNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = syscall.S_IFDIR | 0o700
	return 0
}

func (n *dirNode) Create(
	ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	f := n.disk.create(name)
	f.mode = mode & 0o777
	f.attributes(&out.Attr)
	return n.child(ctx, f), nil, 0, 0
}

func (n *dirNode) Link(_ context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	f, ok := target.(*fileNode)
	if !ok {
		return nil, syscall.EPERM
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.rename(rename{to: name, file: f.file})
	f.file.attributes(&out.Attr)
	return f.EmbeddedInode(), 0
}

func (n *dirNode) Unlink(_ context.Context, name string) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.rename(rename{from: name})
	return 0
}

func (n *dirNode) Rename(_ context.Context, name string, _ fs.InodeEmbedder, to string, flags uint32) syscall.Errno {
	if flags != 0 {
		return syscall.EINVAL
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.rename(rename{from: name, to: to, file: n.disk.names[name]})
	return 0
}

func (n *dirNode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.disk.sync(nil)
}
