--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Environment_Variables;
with Ada.Strings.Fixed;

package body Tested_Databases is

   use Ada.Environment_Variables;
   use Ada.Strings.Fixed;

   --  Returns Target with a user that does not exist

   function As_Stranger (Target : String) return String is
      Start : constant Positive := Index (Target, "://") + 3;
   begin
      return
        Target (Target'First .. Start - 1) & "stranger:wrong"
        & Target (Index (Target, "@") .. Target'Last);
   end As_Stranger;

   ------------
   -- SQLite --
   ------------

   procedure Connect (DB : in out SQLite.Connection) is
   begin
      DB.Open (Ada.Command_Line.Argument (1) & "/shared.db");
      DB.Execute ("PRAGMA foreign_keys = on");
   end Connect;

   procedure Prepare
     (Self : in out SQLite.Statement; On : in out SQLite.Connection; Text : String) is
   begin
      Self.Prepare (On, Text);
   end Prepare;

   ----------------
   -- PostgreSQL --
   ----------------

   --  DROP TABLE IF EXISTS would otherwise report missing tables on standard error

   procedure Connect (DB : in out PostgreSQL.Connection) is
      Target : constant String := Value (PostgreSQL_Variable);
   begin
      DB.Open
        (Target & (if Index (Target, "?") = 0 then "?" else "&")
         & "application_name=appserver%20tests");
      DB.Execute ("SET client_min_messages = warning");
   end Connect;

   procedure Connect_As_Stranger (DB : in out PostgreSQL.Connection) is
   begin
      DB.Open (As_Stranger (Value (PostgreSQL_Variable)));
   end Connect_As_Stranger;

   procedure Connect_Nowhere (DB : in out PostgreSQL.Connection) is
   begin
      DB.Open ("postgresql://127.0.0.1:1/nowhere", Connect_Timeout => 10.0);
   end Connect_Nowhere;

   procedure Prepare
     (Self : in out PostgreSQL.Statement; On : in out PostgreSQL.Connection; Text : String) is
   begin
      Self.Prepare (On, Text);
   end Prepare;

   procedure Prepare_Client_Side
     (Self : in out PostgreSQL.Statement; On : in out PostgreSQL.Connection; Text : String) is
   begin
      Self.Prepare_Client_Side (On, Text);
   end Prepare_Client_Side;

   -------------
   -- MariaDB --
   -------------

   procedure Connect (DB : in out MariaDB.Connection) is
   begin
      DB.Open (Value (MariaDB_Variable));
   end Connect;

   procedure Connect_As_Stranger (DB : in out MariaDB.Connection) is
   begin
      DB.Open (As_Stranger (Value (MariaDB_Variable)));
   end Connect_As_Stranger;

   procedure Connect_Nowhere (DB : in out MariaDB.Connection) is
   begin
      DB.Open (Host => "127.0.0.1", User => "nobody", Password => "", Port => 1);
   end Connect_Nowhere;

   procedure Prepare
     (Self : in out MariaDB.Statement; On : in out MariaDB.Connection; Text : String) is
   begin
      Self.Prepare (On, Text);
   end Prepare;

   procedure Prepare_Client_Side
     (Self : in out MariaDB.Statement; On : in out MariaDB.Connection; Text : String) is
   begin
      Self.Prepare_Client_Side (On, Text);
   end Prepare_Client_Side;

end Tested_Databases;
