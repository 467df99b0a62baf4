--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Instantiates every generic package of the crates in Ada 2012, the default of GNAT. GNAT compiles
--  an instance with the language of the program that contains it.

with Ada.Containers;
with Ada.Exceptions;
with Appserver.Caches.Copy_On_Write;
with Appserver.Caches.Locked;
with Appserver.Caches.Wait_Free;
with Appserver.HTTP.Embedded;
with Appserver.JSON.Objects;
with Appserver.JSON.Readers;
with Appserver.Monitors;
with Appserver.Pools;
with Appserver.References;
with Appserver.Resilience.Hedges;
with Appserver.Resilience.Retries;
with Appserver.Retry.Fault_Injection;
with Appserver.Retry.Key_Purges;
with Appserver.Retry.Transactions;
with Appserver.SQL.Monitored;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;
with Appserver.SQL.Statement_Caches;

package body Instances is

   use Appserver;

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
     (Ada.Containers.Hash_Type'Mod (Key));

   package Caches_Of_Integers is new Caches (Integer, Integer, Hash);
   package Wait_Free_Caches is new Caches_Of_Integers.Wait_Free;
   package Copy_On_Write_Caches is new Caches_Of_Integers.Copy_On_Write;
   package Locked_Caches is new Caches_Of_Integers.Locked;

   package Device is new HTTP.Embedded;

   type Member is (X, Y);
   type Point is array (Member) of Integer;

   procedure Read
     (Into   : in out Point;
      Which  : Member;
      JSON   : in out Appserver.JSON.Readers.Reader;
      Source : String) is
   begin
      JSON.Skip (Source);
      Into (Which) := 0;
   end Read;

   package Points is new JSON.Objects (Member, Point, Read);

   procedure Open (Item : in out Integer) is
   begin
      Item := 1;
   end Open;

   package Pools_Of_Integers is new Pools (Integer, Open);
   package References_To_Integers is new References (Integer);

   function Call return Integer is (1);

   function Classify (Error : Ada.Exceptions.Exception_Occurrence) return Resilience.Verdict is
     (Resilience.Verdict_Of_Guard (Error));

   package Hedges is new Resilience.Hedges (Integer, Call);
   package Retries is new Resilience.Retries (Classify);

   procedure Open (DB : in out SQL.SQLite.Connection) is
   begin
      DB.Open (":memory:");
   end Open;

   package Transactions is new Retry.Transactions (SQL.SQLite.Connection, Open);
   package Faulty_Transactions is new Retry.Fault_Injection (SQL.SQLite.Connection, Open);
   package Purges is new Retry.Key_Purges (SQL.SQLite.Connection, Open);

   package Connection_Pools is new SQL.Pools
     (SQL.SQLite.Connection, SQL.SQLite.Statement, Open, SQL.SQLite.Prepare);
   package Statements is new SQL.Statement_Caches
     (SQL.SQLite.Connection, SQL.SQLite.Statement, SQL.SQLite.Prepare);

   Monitor : aliased Monitors.Monitor;

   package Monitored is new SQL.Monitored
     (Monitor'Access, SQL.SQLite.Connection, SQL.SQLite.Statement, SQL.SQLite.Prepare,
      SQL.SQLite.Prepare_Client_Side);

end Instances;
