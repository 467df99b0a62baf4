--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Connections that tasks share, each with the statements that were prepared on it.
--
--     package Shops is new Appserver.SQL.Pools
--       (SQLite.Connection, SQLite.Statement, Open => Open_Shop, Prepare => SQLite.Prepare);
--     Shop : aliased Shops.Pool (Capacity => 8);
--     …
--     declare
--        Held : Shops.Lease (Shop'Access);
--     begin
--        Held.Get (Timeout => 1.0);
--        declare
--           Query : Shops.Prepared_Statement :=
--             Held.Prepared ("SELECT name FROM account WHERE id = ?");
--        begin
--           Query.Bind (1, Id);
--           …
--
--  A lease is of one task, and gives its connection back when it leaves scope. A transaction that
--  is open then is rolled back. A connection that was lost is closed, and opened again for the next
--  lease. The contract of Get, Release, Discard and of the pool is that of Appserver.Pools.

pragma Ada_2022;

with Ada.Real_Time;
with Appserver.Pools;
with Appserver.SQL.Statement_Caches;

generic
   type Connection is limited new SQL.Connection with private;
   type Statement is limited new SQL.Statement with private;

   with procedure Open (DB : in out Connection);
   --  Connects. DB is closed before. Get's timeout holds for it, but it goes on then: let it have a
   --  limit of its own. Settings of the session that it makes are undone where sessions are reset:
   --  they belong to Set_Up then.

   with procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String);
   --  That of the database

   Max_Statements : Positive := 64;
   --  Of each connection, at most; the one whose use is longest ago makes room for a new one

   Validate_After : Duration := 10.0;
   --  Seconds. A connection that was idle for longer is tested by a statement before a lease.

   Max_Lifetime : Duration := Duration'Last;
   --  Seconds. A connection that has been open for longer is opened anew before a lease.

   Validation_Timeout : Duration := 5.0;
   --  Seconds. A server that has not answered the test by then, or in half of the time that Get has
   --  left, is lost, and so is one that has not answered the rollback and the reset after a lease.
   --  The connection is closed then, and if a Cancel of it has not ended by then.

   Resets_Sessions : Boolean := False;
   --  Each lease finds the session as it was after Open and Set_Up: at the end of a lease the
   --  connection's Reset_Session is called, which takes a round trip, and then Set_Up. Else what
   --  one lease sets, creates as temporary or locks by name is there in the next one.

   with procedure Set_Up (DB : in out Connection) is null;
   --  Makes the session's settings, after Open and after each Reset_Session

package Appserver.SQL.Pools is

   pragma Assertion_Policy (Pre => Check);

   package Statement_Caches is new SQL.Statement_Caches
     (Connection, Statement, Prepare, Max_Statements);

   subtype Prepared_Statement is Statement_Caches.Prepared_Statement;

   --  The pool's resources, and their hooks

   type Pooled_Session is limited record
      Session  : aliased Statement_Caches.Statement_Cache;
      Opened   : Ada.Real_Time.Time;
      Returned : Ada.Real_Time.Time;
   end record;

   procedure Open_Session (Self : in out Pooled_Session);
   procedure Close_Session (Self : in out Pooled_Session);
   procedure Validate_Session (Self : in out Pooled_Session; Is_Valid : in out Boolean);
   procedure Probe_Session
     (Self     : in out Pooled_Session;
      Timeout  : Duration;
      Is_Valid : in out Boolean);
   procedure Reset_Session (Self : in out Pooled_Session);

   package Session_Pools is new Appserver.Pools
     (Pooled_Session, Open_Session, Close_Session, Validate_Session, Reset_Session,
      Probe_Session);

   subtype Pool is Session_Pools.Pool;

   Pool_Closed  : exception renames Session_Pools.Pool_Closed;
   Pool_Timeout : exception renames Session_Pools.Pool_Timeout;
   Lease_Error  : exception renames Session_Pools.Lease_Error;

   type Lease is new Session_Pools.Lease with null record;

   function Can_Use (Self : Lease'Class) return Boolean is
     (Self.Is_Held or else raise Lease_Error with "it holds no connection");
   --  For preconditions: True, or raises Lease_Error

   function DB (Self : Lease) return Statement_Caches.Connection_View is
     (Statement_Caches.DB (Self.Item.Element.Session))
     with Pre => Can_Use (Self);
   --  The connection. The view must not outlive the lease.

   function Prepared (Self : Lease; Text : UTF_8_String) return Prepared_Statement is
     (Statement_Caches.Prepared (Self.Item.Element.Session, Text))
     with Pre => Can_Use (Self);
   --  The connection's statement for Text, prepared if there is none yet; its parameters are null.
   --  If that one is in use, another one is prepared, and closed at the end of the scope.

   function Statement_Count (Self : Lease) return Natural is
     (Self.Item.Element.Session.Statement_Count)
     with Pre => Can_Use (Self);
   --  How many prepared statements the connection keeps

end Appserver.SQL.Pools;
