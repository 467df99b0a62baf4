// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"sync"
	"sync/atomic"
)

// sharedMap is a map that goroutines share. Key k has the value k + 1.
type sharedMap interface {
	get(key uint64) uint64 // 0 if the key is missing
	put(key, value uint64)
	size() uint64
}

// newMap returns a map with the keys below entries, or nil if there is no such scheme.
func newMap(scheme string, entries uint64) sharedMap {
	initial := make(map[uint64]uint64, entries)
	for key := range entries {
		initial[key] = key + 1
	}
	switch scheme {
	case "unsynchronized":
		return unsynchronized(initial)
	case "lock":
		return &locked{entries: initial}
	case "read_write_lock":
		return &readWriteLocked{entries: initial}
	case "copy_on_write":
		m := new(copied)
		m.entries.Store(&initial)
		return m
	case "unsafe_copy_on_write":
		m := new(unsafeCopied)
		m.entries.Store(&initial)
		return m
	case "concurrent":
		m := new(concurrent)
		for key, value := range initial {
			m.entries.Store(key, value)
		}
		return m
	}
	return nil
}

// unsynchronized is a map that is safe for one goroutine, or for multiple goroutines that only read.
type unsynchronized map[uint64]uint64

func (m unsynchronized) get(key uint64) uint64 { return m[key] }
func (m unsynchronized) put(key, value uint64) { m[key] = value }
func (m unsynchronized) size() uint64          { return uint64(len(m)) }

type locked struct {
	mutex   sync.Mutex
	entries map[uint64]uint64
}

func (m *locked) get(key uint64) uint64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.entries[key]
}

func (m *locked) put(key, value uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.entries[key] = value
}

func (m *locked) size() uint64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return uint64(len(m.entries))
}

type readWriteLocked struct {
	mutex   sync.RWMutex
	entries map[uint64]uint64
}

func (m *readWriteLocked) get(key uint64) uint64 {
	m.mutex.RLock()
	defer m.mutex.RUnlock()
	return m.entries[key]
}

func (m *readWriteLocked) put(key, value uint64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.entries[key] = value
}

func (m *readWriteLocked) size() uint64 {
	m.mutex.RLock()
	defer m.mutex.RUnlock()
	return uint64(len(m.entries))
}

// copied is a map that is read without a lock. Writers wait for each other.
type copied struct {
	writing sync.Mutex
	entries atomic.Pointer[map[uint64]uint64]
}

func (m *copied) get(key uint64) uint64 { return (*m.entries.Load())[key] }
func (m *copied) size() uint64          { return uint64(len(*m.entries.Load())) }

func (m *copied) put(key, value uint64) {
	m.writing.Lock()
	defer m.writing.Unlock()
	changed := maps.Clone(*m.entries.Load())
	changed[key] = value
	m.entries.Store(&changed)
}

// unsafeCopied is a map that loses an update if two writers copy it at the same time: an atomic pointer
// is not a lock.
type unsafeCopied struct {
	entries atomic.Pointer[map[uint64]uint64]
}

func (m *unsafeCopied) get(key uint64) uint64 { return (*m.entries.Load())[key] }
func (m *unsafeCopied) size() uint64          { return uint64(len(*m.entries.Load())) }

func (m *unsafeCopied) put(key, value uint64) {
	changed := maps.Clone(*m.entries.Load())
	changed[key] = value
	m.entries.Store(&changed)
}

type concurrent struct{ entries sync.Map }

func (m *concurrent) get(key uint64) uint64 {
	value, ok := m.entries.Load(key)
	if !ok {
		return 0
	}
	return value.(uint64)
}

func (m *concurrent) put(key, value uint64) { m.entries.Store(key, value) }

func (m *concurrent) size() (count uint64) {
	m.entries.Range(func(any, any) bool {
		count++
		return true
	})
	return count
}
