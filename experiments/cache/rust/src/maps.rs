// SPDX-License-Identifier: Apache-2.0
//! The maps that threads share. Key k has the value k + 1.

use arc_swap::ArcSwap;
use dashmap::DashMap;
use lab_kit::Failure;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A map that threads read.
pub trait ReadMap: Send + Sync {
    /// Returns the value of a key, if it exists.
    fn get(&self, key: u64) -> Option<u64>;
}

/// A map that threads read and write.
pub trait SharedMap: ReadMap {
    /// Adds an entry, or replaces the value of its key.
    fn put(&self, key: u64, value: u64);

    /// Returns the number of entries.
    fn len(&self) -> usize;

    /// Returns true if the map never loses an entry.
    fn is_safe(&self) -> bool {
        true
    }
}

/// Creates the map of a scheme, with the keys below `entries`, for reading only.
pub fn read_map(scheme: &str, entries: u64) -> Result<Box<dyn ReadMap>, Failure> {
    Ok(match scheme {
        "unsynchronized" => Box::new(initial(entries).collect::<HashMap<_, _>>()),
        _ => shared_map(scheme, entries)?,
    })
}

/// Creates a map like [`read_map`], but only for a scheme that supports writes.
pub fn shared_map(scheme: &str, entries: u64) -> Result<Box<dyn SharedMap>, Failure> {
    let initial = initial(entries);
    Ok(match scheme {
        "lock" => Box::new(Mutex::new(initial.collect::<HashMap<_, _>>())),
        "read_write_lock" => Box::new(RwLock::new(initial.collect::<HashMap<_, _>>())),
        "copy_on_write" => Box::new(Copied(ArcSwap::from_pointee(initial.collect()))),
        "unsafe_copy_on_write" => Box::new(UnsafeCopied(ArcSwap::from_pointee(initial.collect()))),
        "concurrent" => Box::new(initial.collect::<DashMap<_, _>>()),
        "unsynchronized" => {
            let message = format!("the map {scheme} is read-only");
            return Err(Failure::unsupported(message));
        }
        _ => return Err(Failure::unsupported(format!("unknown scheme {scheme}"))),
    })
}

fn initial(entries: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..entries).map(|key| (key, key + 1))
}

/// An unsynchronized map. Rust lets threads share a `HashMap` as long as none of them writes.
impl ReadMap for HashMap<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        HashMap::get(self, &key).copied()
    }
}

/// A map guarded by a lock. Nothing panics while the lock is held, so poisoning can be ignored.
impl ReadMap for Mutex<HashMap<u64, u64>> {
    fn get(&self, key: u64) -> Option<u64> {
        let map = self.lock().unwrap_or_else(PoisonError::into_inner);
        map.get(&key).copied()
    }
}

impl SharedMap for Mutex<HashMap<u64, u64>> {
    fn put(&self, key: u64, value: u64) {
        let mut map = self.lock().unwrap_or_else(PoisonError::into_inner);
        map.insert(key, value);
    }

    fn len(&self) -> usize {
        self.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl ReadMap for RwLock<HashMap<u64, u64>> {
    fn get(&self, key: u64) -> Option<u64> {
        let map = self.read().unwrap_or_else(PoisonError::into_inner);
        map.get(&key).copied()
    }
}

impl SharedMap for RwLock<HashMap<u64, u64>> {
    fn put(&self, key: u64, value: u64) {
        let mut map = self.write().unwrap_or_else(PoisonError::into_inner);
        map.insert(key, value);
    }

    fn len(&self) -> usize {
        self.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A map that every write replaces with a changed copy. A writer copies again if another writer replaced the map in the
/// meantime.
struct Copied(ArcSwap<HashMap<u64, u64>>);

impl ReadMap for Copied {
    fn get(&self, key: u64) -> Option<u64> {
        self.0.load().get(&key).copied()
    }
}

impl SharedMap for Copied {
    fn put(&self, key: u64, value: u64) {
        self.0.rcu(|map| {
            let mut copy = HashMap::clone(map);
            copy.insert(key, value);
            copy
        });
    }

    fn len(&self) -> usize {
        self.0.load().len()
    }
}

/// A map that every write replaces with a changed copy, without a lock. If two writers copy it at the same time, the
/// last one wins.
struct UnsafeCopied(ArcSwap<HashMap<u64, u64>>);

impl ReadMap for UnsafeCopied {
    fn get(&self, key: u64) -> Option<u64> {
        self.0.load().get(&key).copied()
    }
}

impl SharedMap for UnsafeCopied {
    fn put(&self, key: u64, value: u64) {
        let mut copy = HashMap::clone(&self.0.load());
        copy.insert(key, value);
        self.0.store(Arc::new(copy));
    }

    fn len(&self) -> usize {
        self.0.load().len()
    }

    fn is_safe(&self) -> bool {
        false
    }
}

impl ReadMap for DashMap<u64, u64> {
    fn get(&self, key: u64) -> Option<u64> {
        DashMap::get(self, &key).map(|entry| *entry)
    }
}

impl SharedMap for DashMap<u64, u64> {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }

    fn len(&self) -> usize {
        DashMap::len(self)
    }
}
