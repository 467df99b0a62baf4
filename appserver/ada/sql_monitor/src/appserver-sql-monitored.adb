--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.SQL.Monitored is

   use type Monitors.Nanoseconds;

   ----------------
   -- Connection --
   ----------------

   function Named (On : SQL.Connection'Class; Text : UTF_8_String) return Monitors.Query is
      Rules : constant Text_Rules :=
        (if On.Is_Open then On.Rules_Of_Texts else (others => <>));
   begin
      return Monitors.Query_Of
        (Monitor.all, Text,
         (Has_Backslash_Escapes   => Rules.Has_Backslash_Escapes,
          Has_Double_Quoted_Texts => Rules.Has_Double_Quoted_Texts,
          Has_Hash_Comments       => Rules.Has_Hash_Comments));
   end Named;

   procedure Run_Counted
     (Self : in out Connection'Class;
      Text : UTF_8_String;
      Run  : not null access procedure (DB : in out Database_Connection))
   is
      Started : constant Monitors.Nanoseconds := Monitors.Clock;

      procedure Count (Is_Failed : Boolean) is
      begin
         Self.Is_Counting := False;
         Monitors.Record_Query
           (Monitor.all, Named (Self, Text), Monitors.Clock - Started, Is_Failed);
      end Count;

   begin
      if Self.Is_Counting then
         Run (Database_Connection (Self));
         return;
      end if;
      Self.Is_Counting := True;
      Run (Database_Connection (Self));
      Count (Is_Failed => False);
   exception
      when others =>
         if Self.Is_Counting then
            Count (Is_Failed => True);
         end if;
         raise;
   end Run_Counted;

   overriding procedure Execute (Self : in out Connection; Text : UTF_8_String) is
      procedure Run (DB : in out Database_Connection) is
      begin
         DB.Execute (Text);
      end Run;
   begin
      Run_Counted (Self, Text, Run'Access);
   end Execute;

   overriding procedure Commit (Self : in out Connection) is
      procedure Run (DB : in out Database_Connection) is
      begin
         DB.Commit;
      end Run;
   begin
      Run_Counted (Self, "COMMIT", Run'Access);
   end Commit;

   overriding procedure Roll_Back (Self : in out Connection) is
      procedure Run (DB : in out Database_Connection) is
      begin
         DB.Roll_Back;
      end Run;
   begin
      Run_Counted (Self, "ROLLBACK", Run'Access);
   end Roll_Back;

   ---------------
   -- Preparing --
   ---------------

   procedure Prepare_Counted
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String) is
   begin
      Self.Close;
      Prepare_Statement (Database_Statement (Self), On, Text);
      Self.Query := Named (On, Text);
   end Prepare_Counted;

   procedure Prepare_Client_Side_Counted
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String) is
   begin
      Self.Close;
      Prepare_Statement_Client_Side (Database_Statement (Self), On, Text);
      Self.Query := Named (On, Text);
   end Prepare_Client_Side_Counted;

   overriding function Prepare
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class is
   begin
      return Result : Statement do
         Prepare_Counted (Result, Self, Text);
      end return;
   end Prepare;

   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class is
   begin
      return Result : Statement do
         Prepare_Client_Side_Counted (Result, Self, Text);
      end return;
   end Prepare_Client_Side;

   -------------
   -- Running --
   -------------

   procedure Count (Self : in out Statement; Is_Failed : Boolean := False) with Inline;
   procedure Count (Self : in out Statement; Is_Failed : Boolean := False) is
   begin
      Monitors.Record_Query (Monitor.all, Self.Query, Self.Spent_Time, Is_Failed);
      Self.Executions := (if Self.Executions = Natural'Last then 0 else Self.Executions + 1);
      Self.Spent_Time := 0;
      Self.Is_Running := False;
   end Count;

   procedure Count_Failure (Self : in out Statement; Started : Monitors.Nanoseconds)
     with No_Inline;
   procedure Count_Failure (Self : in out Statement; Started : Monitors.Nanoseconds) is
   begin
      Self.Spent_Time := Self.Spent_Time + (Monitors.Clock - Started);
      Count (Self, Is_Failed => True);
   end Count_Failure;

   overriding function Step (Self : in out Statement) return Boolean is
      Started : constant Monitors.Nanoseconds := Monitors.Clock;
   begin
      return Has_Row : constant Boolean := Database_Statement (Self).Step do
         Self.Spent_Time := Self.Spent_Time + (Monitors.Clock - Started);
         if Has_Row then
            Self.Is_Running := True;
         else
            Count (Self);
         end if;
      end return;
   exception
      when others =>
         Count_Failure (Self, Started);
         raise;
   end Step;

   overriding procedure Execute (Self : in out Statement) is
      Started : constant Monitors.Nanoseconds := Monitors.Clock;
   begin
      Database_Statement (Self).Execute;
      Self.Spent_Time := Self.Spent_Time + (Monitors.Clock - Started);
      Count (Self);
   exception
      when others =>
         Count_Failure (Self, Started);
         raise;
   end Execute;

   procedure Leave (Self : in out Statement; Is_Failed : Boolean := False) is
   begin
      if Self.Is_Running then
         Count (Self, Is_Failed);
      end if;
   end Leave;

   --  The rows of a stream may be followed by an error

   overriding procedure Reset (Self : in out Statement) is
   begin
      Database_Statement (Self).Reset;
      Leave (Self);
   exception
      when others =>
         Leave (Self, Is_Failed => True);
         raise;
   end Reset;

   overriding procedure Unbind (Self : in out Statement) is
   begin
      Database_Statement (Self).Unbind;
      Leave (Self);
   exception
      when others =>
         Leave (Self, Is_Failed => True);
         raise;
   end Unbind;

   overriding procedure Close (Self : in out Statement) is
   begin
      Leave (Self);
      Database_Statement (Self).Close;
   end Close;

   --  If the database runs a batch as a whole, the batch is recorded as one execution

   overriding procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64)
   is
      Before  : constant Natural := Self.Executions;
      Started : constant Monitors.Nanoseconds := Monitors.Clock;
   begin
      Database_Statement (Self).Run_Each (Bind, Counts, Current);
      if Self.Executions = Before then
         Self.Spent_Time := Monitors.Clock - Started;
         Count (Self);
      end if;
   exception
      when others =>
         if Self.Executions = Before then
            Count_Failure (Self, Started);
         end if;
         raise;
   end Run_Each;

end Appserver.SQL.Monitored;
