--  SPDX-License-Identifier: Apache-2.0

with Ada.Calendar.Formatting;
with Ada.Characters.Latin_1;
with Ada.Directories;
with Ada.Streams.Stream_IO;
with Ada.Strings.Fixed;
with Ada.Unchecked_Deallocation;
with SQL_Cases.Folds;

package body SQL_Cases.Own is

   use Interfaces;

   Most_Statements : constant := 100;

   Separator : constant Character := Ada.Characters.Latin_1.HT;
   Line_End  : constant Character := Ada.Characters.Latin_1.LF;

   procedure Free is new Ada.Unchecked_Deallocation (Statement_List, Statement_List_Access);
   procedure Free is new Ada.Unchecked_Deallocation (String, Text_Access);
   procedure Free is new Ada.Unchecked_Deallocation (Value_Table, Value_Table_Access);

   -------------
   -- Opening --
   -------------

   function Type_Of (Word : String) return Value_Type is
     (if Word = "integer" then Integer_Value
      elsif Word = "float" then Float_Value
      elsif Word = "text" then Text_Value
      elsif Word = "boolean" then Boolean_Value
      elsif Word = "decimal" then Decimal_Value
      elsif Word = "bytes" then Bytes_Value
      elsif Word = "date" then Date_Value
      elsif Word = "timestamp" then Timestamp_Value
      else raise Unsupported_Error with "unknown type " & Word);

   --  Returns the types in a list such as integer,text or none

   function Types_Of (Words : String) return Type_Vectors.Vector is
      Types : Type_Vectors.Vector;
      First : Positive := Words'First;
      Comma : Natural;
   begin
      if Words = "none" then
         return Types;
      end if;
      loop
         Comma := Ada.Strings.Fixed.Index (Words, ",", First);
         exit when Comma = 0;
         Types.Append (Type_Of (Words (First .. Comma - 1)));
         First := Comma + 1;
      end loop;
      Types.Append (Type_Of (Words (First .. Words'Last)));
      return Types;
   end Types_Of;

   function Contents (Path : String) return Text_Access is
      use Ada.Streams.Stream_IO;

      Text : constant Text_Access := new String (1 .. Natural (Ada.Directories.Size (Path)));
      File : File_Type;
   begin
      Open (File, In_File, Path);
      String'Read (Stream (File), Text.all);
      Close (File);
      return Text;
   end Contents;

   --  Each line of the file has the values of one operation, separated by tabs

   procedure Read_Values (Self : in out Own_Case; Count : Positive) is
      Text  : String renames Self.File.all;
      Lines : constant Natural := Ada.Strings.Fixed.Count (Text, String'(1 => Line_End));
      First : Positive := Text'First;
      Last  : Natural;

      procedure Read (Value : out Bound_Value; Kind : Value_Type) is
      begin
         Last := First;
         while Text (Last) not in Separator | Line_End loop
            Last := Last + 1;
         end loop;
         Value := (First => First, Last => Last - 1, others => <>);
         case Kind is
            when Integer_Value =>
               Value.Number := Integer_64'Value (Text (First .. Last - 1));
            when Float_Value =>
               Value.Float := Long_Float'Value (Text (First .. Last - 1));
            when others =>
               null;
         end case;
         First := Last + 1;
      end Read;

   begin
      Self.Values := new Value_Table (1 .. Lines, 1 .. Count);
      for Line in 1 .. Lines loop
         for Statement of Self.Statements.all loop
            for P in 1 .. Natural (Statement.Parameters.Length) loop
               Read (Self.Values (Line, Statement.First + P - 1), Statement.Parameters (P));
            end loop;
         end loop;
      end loop;
   end Read_Values;

   overriding procedure Prepare
     (Self      : in out Own_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence)
   is
      pragma Unreferenced (Inputs);

      Count  : constant Positive := Positive (Arguments.Number ("statements", 1, Most_Statements));
      Values : Natural := 0;
   begin
      Self.In_Transaction := Arguments.Text ("transaction") = "yes";
      Self.Statements := new Statement_List (1 .. Count);
      for N in 1 .. Count loop
         declare
            Number    : constant String := Ada.Strings.Fixed.Trim (N'Image, Ada.Strings.Left);
            Statement : Own_Statement renames Self.Statements (N);
         begin
            Statement.Parameters := Types_Of (Arguments.Text ("parameters" & Number));
            Statement.Columns    := Types_Of (Arguments.Text ("columns" & Number));
            Statement.First      := Values + 1;
            Values := Values + Natural (Statement.Parameters.Length);
            Statement.Query.Prepare (Self.DB, Arguments.Text ("sql" & Number));
         end;
      end loop;
      if Values > 0 then
         Self.File := Contents (Arguments.Text ("inputs"));
         Read_Values (Self, Values);
      end if;
   end Prepare;

   -------------
   -- Running --
   -------------

   function Fold
     (Row : Database.Statement; Column : SQL.Column_Number; Kind : Value_Type) return Check_Value is
   begin
      if Row.Is_Null (Column) then
         return 1;
      end if;
      case Kind is
         when Integer_Value =>
            return Check_Value'Mod (Row.As_Integer_64 (Column));
         when Boolean_Value =>
            return Boolean'Pos (Row.As_Boolean (Column));
         when Float_Value =>
            return Folds.Bits (Row.As_Float (Column));
         when Text_Value | Decimal_Value =>
            return Folds.Code_Points (Row.As_Text (Column));
         when Bytes_Value =>
            return Folds.Bytes (Row.As_Blob (Column));
         when Timestamp_Value =>
            return Check_Value'Mod (Folds.Milliseconds (Row.As_Time (Column)));
         when Date_Value =>
            declare
               Day : constant SQL.Date := Row.As_Date (Column);
            begin
               return Check_Value'Mod
                 (Folds.Milliseconds
                    (Ada.Calendar.Formatting.Time_Of (Day.Year, Day.Month, Day.Day)));
            end;
      end case;
   end Fold;

   procedure Bind (Self : Own_Case; Statement : in out Own_Statement; Line : Positive) is
   begin
      for P in 1 .. Natural (Statement.Parameters.Length) loop
         declare
            Value : Bound_Value renames Self.Values (Line, Statement.First + P - 1);
         begin
            case Statement.Parameters (P) is
               when Integer_Value =>
                  Statement.Query.Bind (P, Value.Number);
               when Float_Value =>
                  Statement.Query.Bind (P, Value.Float);
               when others =>
                  Statement.Query.Bind (P, Self.File (Value.First .. Value.Last));
            end case;
         end;
      end loop;
   end Bind;

   procedure Run
     (Self      : Own_Case;
      Statement : in out Own_Statement;
      Line      : Positive;
      Check     : in out Check_Value;
      Units     : in out Unit_Count) is
   begin
      Bind (Self, Statement, Line);
      if Statement.Columns.Is_Empty then
         Statement.Query.Execute;
         Check := Check + 1;
         Units := Units + 1;
         return;
      end if;
      while Statement.Query.Step loop
         for Column in 1 .. Natural (Statement.Columns.Length) loop
            Check := Check + Fold (Statement.Query, Column, Statement.Columns (Column));
         end loop;
         Units := Units + 1;
      end loop;
   end Run;

   overriding procedure Perform
     (Self       : in out Own_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Lines : constant Positive := (if Self.Values = null then 1 else Self.Values'Length (1));
      Line  : Positive := 1;

      procedure Run_All is
      begin
         for Statement of Self.Statements.all loop
            Run (Self, Statement, Line, Check, Units);
         end loop;
      end Run_All;

   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         if Self.In_Transaction then
            declare
               Work : SQL.Transaction (Self.DB'Access);
            begin
               Run_All;
               Work.Commit;
            end;
         else
            Run_All;
         end if;
         Line := (if Line = Lines then 1 else Line + 1);
      end loop;
   end Perform;

   overriding procedure Close (Self : in out Own_Case) is
   begin
      Free (Self.Statements);
      SQL_Case (Self).Close;
      Free (Self.Values);
      Free (Self.File);
   end Close;

end SQL_Cases.Own;
