--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Words to which any number of tasks can add concurrently, without a lock.

pragma Ada_2022;

with Interfaces;

package Appserver.Atomic_Words with Preelaborate is

   subtype Word is Interfaces.Unsigned_64;

   function Load (Item : aliased Word) return Word with Inline;
   --  Reads a word with acquire semantics. The caller then also sees all memory writes made before
   --  the Store of that value.

   procedure Store (Item : aliased in out Word; Value : Word) with Inline;
   --  Writes a word with release semantics, ordered after all earlier writes of the task

   procedure Add (Item : aliased in out Word; Amount : Word) with Inline;
   --  Adds an amount atomically, with relaxed semantics: the addition does not order accesses to
   --  other words

   procedure Raise_To (Item : aliased in out Word; Value : Word) with Inline;
   --  Sets the word to Value if the word is less than Value

   procedure Replace
     (Item : aliased in out Word; Expected, By : Word; Is_Replaced : out Boolean) with Inline;
   --  Sets the word to By if the word is equal to Expected. Is_Replaced is True if the word was
   --  set.

end Appserver.Atomic_Words;
