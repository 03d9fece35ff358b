package dbtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/db"
)

// adminTime bounds what a test asks of the server itself. It is generous: other
// packages make and drop databases at the same time.
const adminTime = 2 * time.Minute

// PostgresURL is the URL of a fresh database on the server of
// $TEST_POSTGRES_URL, dropped when the test ends: an empty one, or, with sets,
// one that has their schema.
func PostgresURL(t testing.TB, sets ...db.Migrations) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		t.Fatal("TEST_POSTGRES_URL names no PostgreSQL server: run make test")
	}
	template := "template0"
	if len(sets) > 0 {
		template = postgresTemplate(t, server, sets)
	}
	name := "test_" + strings.ToLower(rand.Text())
	admin(t, server, func(ctx context.Context, conn *pgx.Conn) error {
		return createPostgres(ctx, conn, name, template)
	})
	t.Cleanup(func() {
		admin(t, server, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
			return err
		})
	})
	return at(t, server, name)
}

// createPostgres copies files: the other strategy logs every page, which takes
// three times the processor time.
func createPostgres(ctx context.Context, conn *pgx.Conn, name, template string) error {
	_, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy")
	return err
}

// at is the URL of another database of the same server.
func at(t testing.TB, server, name string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("TEST_POSTGRES_URL is not a URL")
	}
	u.Path = "/" + name
	return u.String()
}

// admin does something on the server. The test's context has ended when its
// clean-up runs.
func admin(t testing.TB, server string, do func(context.Context, *pgx.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), adminTime)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("the PostgreSQL server of TEST_POSTGRES_URL: %v", err)
	}
	defer conn.Close(ctx)
	if err := do(ctx, conn); err != nil {
		t.Fatal(err)
	}
}
