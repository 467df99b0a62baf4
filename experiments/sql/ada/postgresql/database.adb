--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Report_Row;

package body Database is

   use Ada.Strings.Fixed;

   Scheme : constant String := "postgresql://";

   --  By default, libpq would first try to encrypt the connection with GSSAPI, and then with TLS

   Unencrypted : constant String := "sslmode=disable&gssencmode=disable";

   procedure Connect (DB : in out Connection; Target : String) is
   begin
      if Head (Target, Scheme'Length) /= Scheme then
         raise Benchlab.Unsupported_Error with "the target must be postgresql://...";
      end if;
      DB.Open (Target & (if Index (Target, "?") = 0 then "?" else "&") & Unencrypted);
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
