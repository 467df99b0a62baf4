--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Report_Row;

package body Database is

   Scheme : constant String := "mariadb://";

   procedure Connect (DB : in out Connection; Target : String) is
   begin
      if Ada.Strings.Fixed.Head (Target, Scheme'Length) /= Scheme then
         raise Benchlab.Unsupported_Error with "the target must be mariadb://...";
      end if;
      DB.Open (Target);
   end Connect;

   procedure Read_Back
     (DB        : in out Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List) is
   begin
      Report_Row (DB, Arguments.Text ("settings"), Settings);
      Settings.Add ("statement_cache", "0"); --  there is no cache
   end Read_Back;

end Database;
