--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A benchmark, not a test: prints the cost of inserting rows one at a time in a transaction, in a
--  batch, and by a load, and the ratios of these costs in each round. The argument is a directory
--  for the SQLite database.

with Ada.Environment_Variables;
with Ada.Real_Time;
with Ada.Text_IO;
with Appserver.SQL.Batches;
with Test_Databases;
with Tested_Databases;

procedure Load_Cost is

   use Ada.Real_Time;
   use Appserver;
   use type SQL.Integer_64;

   Rounds : constant := 5;
   Rows   : constant := 100_000;

   type Way is (Singles, Batch, Load);

   type Cost_List is array (Way) of Duration;

   procedure Bind_Row (To : in out SQL.Statement'Class; Element : Positive) is
   begin
      To.Bind (1, SQL.Integer_64 (Element));
      To.Bind (2, "the name of article" & Element'Image);
      To.Bind (3, SQL.Integer_64 (Element mod 1_000));
   end Bind_Row;

   procedure Insert_All (DB : in out SQL.Connection'Class; By : Way) is

      Row : Natural := 0;

      function Next (Into : in out SQL.Statement'Class) return Boolean is
      begin
         Row := Row + 1;
         if Row <= Rows then
            Bind_Row (Into, Row);
         end if;
         return Row <= Rows;
      end Next;

      Insert : SQL.Statement'Class := DB.Prepare ("INSERT INTO t (id, name, n) VALUES (?, ?, ?)");
      Counts : SQL.Count_List (1 .. Rows);
      Loaded : SQL.Integer_64;
   begin
      case By is
         when Singles =>
            declare
               Work : SQL.Transaction (DB'Unchecked_Access);
            begin
               while Next (Insert) loop
                  Insert.Execute;
               end loop;
               Work.Commit;
            end;
         when Batch =>
            SQL.Batches.Execute (Insert, Bind_Row'Access, Counts);
         when Load =>
            SQL.Batches.Load (DB, "t", "id, name, n", Next'Access, Loaded);
            pragma Assert (Loaded = Rows);
      end case;
   end Insert_All;

   function Percent (Part, Total : Duration) return String is
     (Integer (100.0 * Long_Float (Part) / Long_Float (Total))'Image & " %");

   generic
      with package Database is new Test_Databases.Database (<>);
   procedure Measure;

   procedure Measure is
      DB    : Database.Connection;
      Start : Time;
      Costs : Cost_List;
   begin
      Database.Open (DB);
      for Round in 1 .. Rounds loop
         for By in Way loop
            DB.Execute
              ("CREATE TABLE t (id integer PRIMARY KEY, name varchar(100), n integer)");
            Start := Clock;
            Insert_All (DB, By);
            Costs (By) := To_Duration (Clock - Start);
            DB.Execute ("DROP TABLE t");
         end loop;
         Ada.Text_IO.Put (Database.Dialect.Name.all);
         for By in Way loop
            Ada.Text_IO.Put
              (" " & By'Image
               & Integer (1.0e9 * Long_Float (Costs (By)) / Long_Float (Rows))'Image
               & " ns a row,");
         end loop;
         Ada.Text_IO.Put_Line
           (" ratios" & Percent (Costs (Batch), Costs (Singles))
            & Percent (Costs (Load), Costs (Singles)));
      end loop;
   end Measure;

   procedure Measure_SQLite is new Measure (Tested_Databases.SQLite_Database);
   procedure Measure_PostgreSQL is new Measure (Tested_Databases.PostgreSQL_Database);
   procedure Measure_MariaDB is new Measure (Tested_Databases.MariaDB_Database);

begin
   Measure_SQLite;
   if Ada.Environment_Variables.Exists (Tested_Databases.PostgreSQL_Variable) then
      Measure_PostgreSQL;
   end if;
   if Ada.Environment_Variables.Exists (Tested_Databases.MariaDB_Variable) then
      Measure_MariaDB;
   end if;
end Load_Cost;
