--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.SQL.Batches is

   use type Interfaces.Integer_64;

   --  Calls Run so that it takes effect completely or not at all. Errors report the current
   --  element.

   procedure Run_Atomically
     (On  : not null Connection_Reference;
      Run : not null access procedure (Current : not null access Integer_64))
   is
      Current : aliased Integer_64 := 0;
   begin
      if On.In_Autocommit then
         declare
            Work : Immediate_Transaction (On);
         begin
            Run (Current'Access);
            Current := 0;
            Work.Commit;
         end;
      else
         declare
            Part : Savepoint (On);
         begin
            Run (Current'Access);
            Current := 0;
            Part.Release;
         end;
      end if;
   exception
      when Failure : SQL_Error =>
         if Current = 0 then
            raise;
         end if;
         declare
            Error : constant Error_Record := Error_Of (Failure);
         begin
            Raise_Error
              (Error.State, Error.Code, "element" & Current'Image & ": " & Error.Message,
               Error.Origin, Error.Detail, Error.Constraint, Element => Current);
         end;
   end Run_Atomically;

   procedure Execute
     (Self   : in out Statement'Class;
      Bind   : not null access procedure (To : in out Statement'Class; Element : Positive);
      Counts : out Count_List)
   is
      procedure Run (Current : not null access Integer_64) is
      begin
         Self.Run_Each (Bind, Counts, Current);
      end Run;
   begin
      Run_Atomically (Self.Owner, Run'Access);
   end Execute;

   procedure Load
     (On      : in out Connection'Class;
      Table   : UTF_8_String;
      Columns : UTF_8_String;
      Next    : not null access function (Row : in out Statement'Class) return Boolean;
      Rows    : out Integer_64)
   is
      procedure Run (Current : not null access Integer_64) is
      begin
         On.Load_Rows (Table, Columns, Next, Current);
         Rows := Current.all;
      end Run;
   begin
      Rows := 0;
      Run_Atomically (On'Unchecked_Access, Run'Access);
   end Load;

end Appserver.SQL.Batches;
