--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;

package body Database is

   Scheme : constant String := "sqlite:";

   procedure Connect (DB : in out Connection; Target : String) is
   begin
      if Ada.Strings.Fixed.Head (Target, Scheme'Length) /= Scheme then
         raise Benchlab.Unsupported_Error with "the target must be sqlite:PATH";
      end if;
      DB.Open (Target (Target'First + Scheme'Length .. Target'Last), SQLite.Read_Write);
   end Connect;

   function Threading_Mode (DB : Connection) return String is
     (case DB.Threading is
         when SQLite.Single_Thread => "single-thread",
         when SQLite.Multi_Thread  => "multi-thread",
         when SQLite.Serialized    => "serialized");

   procedure Read_Back
     (DB        : in out Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List)
   is
      pragma Unreferenced (Arguments);

      function Answer (Text : String) return String is
         Query : Statement;
      begin
         Query.Prepare_Client_Side (DB, Text);
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
      Settings.Add ("threading", Threading_Mode (DB));
      Settings.Add ("statement_cache", "0"); --  there is no cache
      Settings.Add ("autocommit", (if DB.In_Autocommit then "1" else "0"));
   end Read_Back;

end Database;
