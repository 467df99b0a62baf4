// SPDX-License-Identifier: Apache-2.0
//! A vector whose items are addressed by IDs of one type.

use crate::Id;
use serde::{Deserialize, Serialize};
use std::fmt::{Debug, Formatter, Result};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// A vector that only one type of ID can index, such as the subjects of a plan.
///
/// The vector dereferences to a slice, and serde represents it as a sequence.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    #[serde(skip)]
    id: PhantomData<I>,
}

impl<I, T> IdVec<I, T> {
    /// Creates an empty vector.
    pub const fn new() -> IdVec<I, T> {
        IdVec {
            items: Vec::new(),
            id: PhantomData,
        }
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// Creates a vector of `len` copies of an item.
    pub fn filled(item: T, len: usize) -> IdVec<I, T>
    where
        T: Clone,
    {
        vec![item; len].into()
    }

    /// Returns all IDs, in order.
    pub fn ids(
        &self,
    ) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Returns all items with their IDs, in order.
    pub fn enumerated(
        &self,
    ) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator + Clone {
        let items = self.items.iter().enumerate();
        items.map(|(index, item)| (I::from_index(index), item))
    }

    /// Returns all items with their IDs, in order, as mutable references.
    pub fn enumerated_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> {
        let items = self.items.iter_mut().enumerate();
        items.map(|(index, item)| (I::from_index(index), item))
    }

    /// Returns the ID of the first item that satisfies a condition.
    pub fn find_id(&self, mut is_it: impl FnMut(&T) -> bool) -> Option<I> {
        let index = self.items.iter().position(&mut is_it);
        index.map(I::from_index)
    }

    /// Returns true if `id` is the ID of an item.
    pub fn has_id(&self, id: I) -> bool {
        id.index() < self.items.len()
    }

    /// Returns the item with an ID, or `None` if the ID is too large.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Returns a mutable reference to the item with an ID, or `None` if the ID is too large.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// Returns the items whose IDs are smaller than `id`.
    ///
    /// # Panics
    /// Panics if `id` is greater than the number of items.
    pub fn preceding(&self, id: I) -> &[T] {
        &self.items[..id.index()]
    }

    /// Appends an item and returns its ID.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_index(self.items.len() - 1)
    }

    /// Removes all items that do not satisfy a condition.
    ///
    /// The remaining items get new IDs.
    pub fn retain(&mut self, stays: impl FnMut(&T) -> bool) {
        self.items.retain(stays);
    }

    /// Removes all items that do not satisfy a condition. The condition may change the items.
    ///
    /// The remaining items get new IDs.
    pub fn retain_mut(&mut self, stays: impl FnMut(&mut T) -> bool) {
        self.items.retain_mut(stays);
    }

    /// Removes and returns the last item, if there is one.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Removes all items after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> IdVec<I, T> {
        IdVec::new()
    }
}

impl<I, T: Debug> Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        Debug::fmt(&self.items, f)
    }
}

impl<I, T> Deref for IdVec<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for IdVec<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I, T> AsRef<[T]> for IdVec<I, T> {
    fn as_ref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> AsMut<[T]> for IdVec<I, T> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> IdVec<I, T> {
        IdVec {
            items,
            id: PhantomData,
        }
    }
}

impl<I, T, const N: usize> From<[T; N]> for IdVec<I, T> {
    fn from(items: [T; N]) -> IdVec<I, T> {
        Vec::from(items).into()
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> IdVec<I, T> {
        Vec::from_iter(items).into()
    }
}

impl<I, T> Extend<T> for IdVec<I, T> {
    fn extend<A: IntoIterator<Item = T>>(&mut self, items: A) {
        self.items.extend(items);
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IdVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}
