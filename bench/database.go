package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// database creates a database on a server, and gives its URL and what drops it.
func database(ctx context.Context, server string) (string, func(context.Context) error, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, fmt.Errorf("TEST_POSTGRES_URL: %w", err)
	}
	name := "bench_" + strings.ToLower(rand.Text())
	if err := statement(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func(ctx context.Context) error {
		return statement(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)")
	}, nil
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
