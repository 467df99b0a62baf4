--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A connection with a cache of its prepared statements, keyed by SQL text.
--
--     package Statement_Caches is new Appserver.SQL.Statement_Caches
--       (SQLite.Connection, SQLite.Statement, SQLite.Prepare);
--     Shop : aliased Statement_Caches.Statement_Cache;
--     …
--     Shop.DB.Open ("shop.db");
--     declare
--        Query : Statement_Caches.Prepared_Statement :=
--          Shop.Prepared ("SELECT name FROM account");
--     begin
--        while Query.Step loop
--           …
--
--  Only one task at a time may use a statement cache. Appserver.SQL.Pools has a statement cache for
--  each connection of a pool.

pragma Ada_2022;

generic
   type Connection is limited new SQL.Connection with private;
   type Statement is limited new SQL.Statement with private;

   with procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String);
   --  The Prepare procedure of the driver

   Max_Statements : Positive := 64;
   --  The maximum number of cached statements. When the cache is full, a new statement replaces the
   --  least recently used statement.

package Appserver.SQL.Statement_Caches is

   pragma Assertion_Policy (Pre => Check);

   type Statement_Cache is tagged limited private;
   --  A connection and its prepared statements

   type Connection_View (Element : not null access Connection) is limited null record
     with Implicit_Dereference => Element;

   function DB (Self : aliased in out Statement_Cache) return Connection_View with Inline;
   --  Returns the connection, which the program must open.
   --  @param Self the cache
   --  @return the connection

   type Prepared_Statement (Element : not null access Statement) is limited private
     with Implicit_Dereference => Element;
   --  A view of a statement, which is reset at the end of the view's scope

   function Prepared
     (Self : aliased in out Statement_Cache; Text : UTF_8_String) return Prepared_Statement
     with Pre  => Can_Use (Self.DB.Element.all),
          Post => Prepared'Result.Element.Is_Open;
   --  Returns the cached statement for the SQL text, or prepares a new one. If the cached statement
   --  is in use, prepares a separate statement, which is closed at the end of the view's scope.
   --  @param Self the cache
   --  @param Text the SQL statement
   --  @return the statement, with all parameters set to null

   function Statement_Count (Self : Statement_Cache) return Natural
     with Post => Statement_Count'Result <= Max_Statements;
   --  @param Self the cache
   --  @return the number of cached statements

   function Is_Used (Self : Statement_Cache) return Boolean;
   --  @param Self the cache
   --  @return True if a statement is in use

   procedure Close (Self : aliased in out Statement_Cache)
     with Post => not Self.DB.Element.Is_Open and then Self.Statement_Count = 0;
   --  Closes all statements and the connection. The connection can be opened again.
   --  @param Self the cache

private

   type Text_Access is access UTF_8_String;
   type Statement_Access is access Statement;

   subtype Slot_Count is Natural range 0 .. Max_Statements;

   --  A statement in the cache

   type Cached_Statement is limited record
      Query     : aliased Statement;
      Text      : Text_Access;
      Is_In_Use : Boolean := False;
      Visit     : Natural := 0;
      --  A number that changes each time that the cache closes its statements
      Last_Use  : Integer_64 := 0;
      --  The value of the cache's Uses at the latest use of the statement
      Next      : Slot_Count := 0;
      --  The next slot in the chain; 0 at the end of the chain
   end record;

   type Cached_Access is access all Cached_Statement;
   type Cached_List is array (1 .. Max_Statements) of aliased Cached_Statement;

   --  The first slot of the chain for each hash value of a text; 0 if the chain is empty

   type Chain_Index is mod 128;
   type Chain_List is array (Chain_Index) of Slot_Count;

   type Statement_Cache is new Ada.Finalization.Limited_Controlled with record
      Cached : Cached_List;
      Chains : Chain_List := [others => 0];
      Filled : Slot_Count := 0;
      Uses   : Integer_64 := 0;
      In_Use : Natural := 0;
      DB     : aliased Connection;
   end record;

   overriding procedure Finalize (Self : in out Statement_Cache);

   type Cache_Access is access all Statement_Cache;

   --  A statement in use. Cached refers to a statement in the cache. If the statement is not in the
   --  cache, Cached is null, and Other is the statement.

   type Hold is limited new Ada.Finalization.Limited_Controlled with record
      Cache  : Cache_Access;
      Cached : Cached_Access;
      Visit  : Natural := 0;
      Other  : Statement_Access;
   end record;

   overriding procedure Finalize (Self : in out Hold);

   type Prepared_Statement (Element : not null access Statement) is limited record
      Held : Hold;
   end record;

   function DB (Self : aliased in out Statement_Cache) return Connection_View is
     (Element => Self.DB'Unchecked_Access);

   function Statement_Count (Self : Statement_Cache) return Natural is (Self.Filled);

   function Is_Used (Self : Statement_Cache) return Boolean is (Self.In_Use > 0);

end Appserver.SQL.Statement_Caches;
