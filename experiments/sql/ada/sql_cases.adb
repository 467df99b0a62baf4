--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;

package body SQL_Cases is

   use type Interfaces.Unsigned_64;

   Scheme : constant String := "sqlite:";

   function Path_Of (Arguments : Fields.Field_List) return String is
      Target : constant String := Arguments.Text ("target");
   begin
      if Ada.Strings.Fixed.Head (Target, Scheme'Length) /= Scheme then
         raise Unsupported_Error with "the target is not sqlite:PATH";
      end if;
      return Target (Target'First + Scheme'Length .. Target'Last);
   end Path_Of;

   procedure Connect (DB : in out SQLite.Connection; Path : String) is
   begin
      DB.Open (Path, SQLite.Read_Write);
   end Connect;

   procedure Read_Back (DB : in out SQLite.Connection; Settings : in out Fields.Field_List) is

      function Answer (Text : String) return String is
         Query : SQLite.Statement;
      begin
         Query.Prepare (DB, Text);
         return (if Query.Step then Query.As_Text (1) else "");
      end Answer;

   begin
      Settings.Add ("version", Answer ("SELECT sqlite_version()"));
      Settings.Add ("source_id", Answer ("SELECT sqlite_source_id()"));
      Settings.Add ("journal_mode", Answer ("PRAGMA journal_mode"));
      Settings.Add ("synchronous", Answer ("PRAGMA synchronous"));
      Settings.Add ("encoding", Answer ("PRAGMA encoding"));
      Settings.Add ("page_size", Answer ("PRAGMA page_size"));
      Settings.Add ("cache_size", Answer ("PRAGMA cache_size"));
      Settings.Add ("secure_delete", Answer ("PRAGMA secure_delete"));
      Settings.Add ("autocommit", (if DB.In_Autocommit then "1" else "0"));
   end Read_Back;

   overriding procedure Open
     (Self      : in out SQL_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs);
   begin
      Connect (Self.DB, Path_Of (Arguments));
      Read_Back (Self.DB, Settings);
   end Open;

   overriding procedure Close (Self : in out SQL_Case) is
   begin
      Self.DB.Close;
   end Close;

   procedure Add_Rows
     (Query : in out SQLite.Statement;
      Check : in out Benchlab.Check_Value;
      Units : in out Benchlab.Unit_Count) is
   begin
      while Query.Step loop
         Check := Check + Check_Value'Mod (Query.As_Integer_64 (1));
         Units := Units + 1;
      end loop;
   end Add_Rows;

end SQL_Cases;
