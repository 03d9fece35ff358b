package smtpd

import (
	"net/netip"
	"time"
)

// startPatience is how long a client waits for a start: as long as webhooks do.
const startPatience = 10 * time.Second

// admit counts a client where there is room for it; nil is that there is.
func (s *Server) admit(address string) *Reply {
	key := network(address)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.total >= s.o.MaxClients:
		return replyFull
	case s.clients[key] >= max(1, s.o.MaxClients/4):
		return replyFullAddress
	}
	s.total++
	s.clients[key]++
	return nil
}

// dismiss counts an admitted client no longer.
func (s *Server) dismiss(address string) {
	key := network(address)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.clients[key]--; s.clients[key] == 0 {
		delete(s.clients, key)
	}
}

// network counts the addresses of one IPv6 network as one, since a host has
// 2^64 of them.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || !a.Unmap().Is6() {
		return address
	}
	p, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}

// awaitStart waits until mail is taken; else it gives the reply to say.
func (s *Server) awaitStart() *Reply {
	timer := time.NewTimer(startPatience)
	defer timer.Stop()
	for {
		now, moved := s.state()
		switch now {
		case taking:
			return nil
		case closed:
			return replyNotTaking
		}
		select {
		case <-moved:
		case <-timer.C:
			return replyNotTaking
		}
	}
}
