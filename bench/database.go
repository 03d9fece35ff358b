package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
)

// database creates a database on the server of TEST_POSTGRES_URL, and gives its
// URL; "" where there is none.
func (b *bench) database(ctx context.Context) (string, error) {
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		return "", nil
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("TEST_POSTGRES_URL: %w", err)
	}
	name := "bench_" + strings.ToLower(rand.Text())
	if err := statement(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	u.Path = "/" + name
	b.atEnd(func() {
		if err := statement(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	})
	return u.String(), nil
}

func statement(ctx context.Context, server, sql string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
