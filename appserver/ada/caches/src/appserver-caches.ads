--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Maps that tasks read all the time and seldom write. There are three kinds, generic children that
--  are instantiated without parameters; a program that has one of them can have any of them:
--
--     Wait_Free       readers never wait, and write to no memory that tasks share
--     Copy_On_Write   readers never wait; each write copies the map. For small maps.
--     Locked          a protected object
--
--     package Prices is new Appserver.Caches (Article, Money, Hash);
--     package Price_Caches is new Prices.Wait_Free;
--     Cache : Price_Caches.Cache (Capacity => 10_000, Time_To_Live => 60_000);
--     …
--     Price := Cache.Get_Or_Load (Article_7, From_Database'Access);

pragma Ada_2022;

with Ada.Containers;

private with Ada.Containers.Hashed_Maps;
private with Ada.Exceptions;
private with Ada.Finalization;
private with Ada.Task_Identification;
private with Appserver.Cache_Tables;
private with Appserver.References;

generic
   type Key_Type is private;
   type Element_Type is private;
   with function Hash (Key : Key_Type) return Ada.Containers.Hash_Type;
   with function "=" (Left, Right : Key_Type) return Boolean is <>;

   --  Hash, "=", and the copying of keys and elements must not block, nor call the cache. They may
   --  run in several tasks at once, and inside a protected object.

package Appserver.Caches is

   pragma Assertion_Policy (Pre => Check);

   Unlimited : constant Positive := Positive'Last;

   type Milliseconds is range 1 .. 2 ** 31 - 1;
   Forever : constant Milliseconds := Milliseconds'Last;

   type Cache
     (Capacity     : Positive     := Unlimited;
      Time_To_Live : Milliseconds := Forever) is abstract tagged limited private;
   --  Has at most Capacity entries: one more replaces the entry that was put longest ago. An entry
   --  is not found any more when Time_To_Live has passed since it was put.
   --
   --  Any number of tasks may call all subprograms at once. Each takes effect at one moment of the
   --  call; no entry that is put is lost to another one being put.

   procedure Get
     (Self     : in out Cache;
      Key      : Key_Type;
      Element  : in out Element_Type;
      Is_Found : out Boolean) is abstract;
   --  Copies the element of Key to Element, which stays as it is if there is none

   procedure Put (Self : in out Cache; Key : Key_Type; Element : Element_Type) is abstract;
   --  Adds an entry, or replaces the one with that key

   procedure Remove (Self : in out Cache; Key : Key_Type) is abstract;
   --  Removes the entry, if there is one

   procedure Clear (Self : in out Cache) is abstract;

   function Length (Self : in out Cache) return Natural is abstract;
   --  How many entries there are, with those that are too old and not removed yet

   function Get_Or_Load
     (Self : in out Cache;
      Key  : Key_Type;
      Load : not null access function (Key : Key_Type) return Element_Type) return Element_Type;
   --  The element of Key; if there is none, the result of Load, which is put. Of tasks that miss a
   --  key at the same time, one calls Load, and the others wait for its result or its exception. If
   --  the loading task is aborted, another one loads. No other task waits. The next call after an
   --  exception loads again. Program_Error if Load asks the cache for the same key.

private

   package Tables is new Appserver.Cache_Tables (Key_Type, Element_Type, Hash, "=");

   use Ada.Exceptions;
   use Ada.Task_Identification;

   type Load_Outcome is (Abandoned, Loaded, Failed);

   protected type Result is
      procedure Set (To : Load_Outcome);
      procedure Set_Element (To : Element_Type);
      procedure Set_Failure (To : Exception_Occurrence);
      entry Wait (Final : out Load_Outcome);
      function Element return Element_Type;
      procedure Raise_Failure;
   private
      Is_Set  : Boolean := False;
      Outcome : Load_Outcome := Abandoned;
      Value   : Element_Type;
      Failure : Exception_Occurrence;
   end Result;

   type Pending_Load is limited record
      Loader : Task_Id := Current_Task;
      Result : Caches.Result;
   end record;

   package Load_References is new Appserver.References (Pending_Load);

   package Load_Maps is new Ada.Containers.Hashed_Maps
     (Key_Type, Load_References.Reference, Hash, "=", Load_References."=");

   type Participant;

   protected type Load_List is

      procedure Join (Caller : not null access Participant);
      --  Caller loads, unless another task does already

      procedure Leave (Caller : not null access Participant);
   private
      Loads : Load_Maps.Map;
   end Load_List;

   type Participant (List : not null access Load_List) is
     new Ada.Finalization.Limited_Controlled with record
      Key     : Key_Type;
      Load    : Load_References.Reference;
      Loads   : Boolean := False;
      Outcome : Load_Outcome := Abandoned;
   end record;
   --  When the loading task leaves its scope, for any reason, the waiting tasks go on

   overriding procedure Finalize (Self : in out Participant);

   type Cache
     (Capacity     : Positive     := Unlimited;
      Time_To_Live : Milliseconds := Forever) is abstract tagged limited
   record
      Loads : aliased Load_List;
   end record;

   function New_Node
     (Self : Cache'Class; Key : Key_Type; Element : Element_Type)
      return not null Tables.Node_Access;

   function Is_Valid (Node : Tables.Node_Access) return Boolean with Inline;
   --  Whether Node is not null and not too old

end Appserver.Caches;
