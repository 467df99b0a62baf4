--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A connection pool with a cache of prepared statements for each connection.
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
--  A lease belongs to one task, and returns its connection at the end of its scope. An open
--  transaction is then rolled back. A lost connection is closed, and opened again for the next
--  lease. See Appserver.Pools for Get, Release, Discard, the type Pool and its options, for example
--  Shop.Configure ((Max_Lifetime => 1_800.0, others => <>)).

pragma Ada_2022;

with Ada.Real_Time;
with Appserver.Pools;
with Appserver.SQL.Statement_Caches;

generic
   type Connection is limited new SQL.Connection with private;
   type Statement is limited new SQL.Statement with private;

   with procedure Open (DB : in out Connection);
   --  Connects to the database. DB is not open before the call. The timeout of Get covers this
   --  call, but the call continues in the background after the timeout. So set a timeout in Open as
   --  well. If Resets_Sessions is True, the pool resets the session settings that Open makes: make
   --  these settings in Set_Up instead.

   with procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String);
   --  The Prepare procedure of the driver

   Max_Statements : Positive := 64;
   --  The maximum number of cached statements of each connection. When the cache is full, a new
   --  statement replaces the least recently used statement.

   Validate_After : Duration := 10.0;
   --  The idle time in seconds after which the pool validates a connection with a statement before
   --  the connection's next lease. The statement restarts this idle time. A check for Keep_Alive
   --  also sends the statement only if the connection has been idle for at least Validate_After.

   Validation_Timeout : Duration := 5.0;
   --  The maximum time in seconds for a validation. If Get has a timeout, a validation also takes
   --  at most half of the remaining time. The rollback and the reset after a lease are limited to
   --  Validation_Timeout, too. If the server does not respond in time, or a Cancel does not end in
   --  time, the connection is closed.

   Resets_Sessions : Boolean := False;
   --  True to start each lease with the session state of a new connection after Set_Up: at the end
   --  of a lease, the pool calls the connection's Reset_Session, which takes a round trip, and then
   --  Set_Up. If False, the settings, temporary tables and named locks of one lease are visible to
   --  the next lease.

   with procedure Set_Up (DB : in out Connection) is null;
   --  Makes the settings of a session. Called after Open and after each Reset_Session.

package Appserver.SQL.Pools is

   pragma Assertion_Policy (Pre => Check);

   package Statement_Caches is new SQL.Statement_Caches
     (Connection, Statement, Prepare, Max_Statements);

   subtype Prepared_Statement is Statement_Caches.Prepared_Statement;

   --  The resource type of the pool, and the hooks that the pool calls

   type Pooled_Session is limited record
      Session  : aliased Statement_Caches.Statement_Cache;
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
   subtype Pool_Options is Session_Pools.Pool_Options;
   subtype Pool_Statistics is Session_Pools.Pool_Statistics;

   Pool_Closed  : exception renames Session_Pools.Pool_Closed;
   Pool_Timeout : exception renames Session_Pools.Pool_Timeout;

   type Lease is new Session_Pools.Lease with null record;

   function Can_Use (Self : Lease'Class) return Boolean is
     (Self.Is_Held or else raise Misuse_Error with "the lease holds no connection");
   --  Checks that the lease holds a connection. For use in preconditions.
   --  @param Self the lease
   --  @return True
   --  @exception Misuse_Error the lease holds no connection

   function DB (Self : Lease) return Statement_Caches.Connection_View is
     (Statement_Caches.DB (Self.Item.Element.Session))
     with Pre => Can_Use (Self);
   --  Returns a view of the connection. The view must not outlive the lease.
   --  @param Self the lease
   --  @return the connection
   --  @exception Misuse_Error the lease holds no connection

   function Prepared (Self : Lease; Text : UTF_8_String) return Prepared_Statement is
     (Statement_Caches.Prepared (Self.Item.Element.Session, Text))
     with Pre => Can_Use (Self);
   --  Returns the cached statement for the SQL text, or prepares a new one. If the cached statement
   --  is in use, prepares a separate statement, which is closed at the end of the view's scope.
   --  @param Self the lease
   --  @param Text the SQL statement
   --  @return the statement, with all parameters set to null
   --  @exception Misuse_Error the lease holds no connection

   function Statement_Count (Self : Lease) return Natural is
     (Self.Item.Element.Session.Statement_Count)
     with Pre => Can_Use (Self);
   --  @param Self the lease
   --  @return the number of cached statements of the connection
   --  @exception Misuse_Error the lease holds no connection

end Appserver.SQL.Pools;
