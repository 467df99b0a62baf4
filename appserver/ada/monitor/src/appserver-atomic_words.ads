--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Words that any number of tasks add to, without a lock.

pragma Ada_2022;

with Interfaces;

package Appserver.Atomic_Words with Preelaborate is

   subtype Word is Interfaces.Unsigned_64;

   function Load (Item : aliased Word) return Word with Inline;
   --  Sees all that was written before the Store (acquire)

   procedure Store (Item : aliased in out Word; Value : Word) with Inline;
   --  After all that was written before (release)

   procedure Add (Item : aliased in out Word; Amount : Word) with Inline;
   --  No addition is lost. It says nothing about the order of other words (relaxed).

   procedure Raise_To (Item : aliased in out Word; Value : Word) with Inline;
   --  If it is less

   procedure Replace
     (Item : aliased in out Word; Expected, By : Word; Is_Replaced : out Boolean) with Inline;
   --  If it is Expected

end Appserver.Atomic_Words;
