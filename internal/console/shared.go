package console

import (
	"sync"
	"time"

	"outrigger/internal/rest"
)

// maxShared bounds the answers that are kept; filters of live pages make the topics.
const maxShared = 2 * rest.StreamsAtOnce

// sharedAnswers keeps the last answer about each topic. While one caller asks, others that
// want the same wait for its answer. The zero value is ready to use.
type sharedAnswers[V any] struct {
	mu      sync.Mutex
	ofTopic map[string]*sharedAnswer[V]
}

type sharedAnswer[V any] struct {
	mu     sync.Mutex // held while one asks
	at     time.Time
	answer V
}

// get returns the answer about a topic, asking again where the last one is older than fresh.
func (s *sharedAnswers[V]) get(topic string, fresh time.Duration, ask func() (V, error)) (V, error) {
	v := s.about(topic)
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.at) < fresh {
		return v.answer, nil
	}
	began := time.Now()
	answer, err := ask()
	if err == nil {
		v.at, v.answer = began, answer
	}
	return answer, err
}

func (s *sharedAnswers[V]) about(topic string) *sharedAnswer[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.ofTopic[topic]
	if v == nil {
		if s.ofTopic == nil || len(s.ofTopic) >= maxShared {
			s.ofTopic = map[string]*sharedAnswer[V]{}
		}
		v = new(sharedAnswer[V])
		s.ofTopic[topic] = v
	}
	return v
}

// forget drops the answers that are kept.
func (s *sharedAnswers[V]) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ofTopic = nil
}
