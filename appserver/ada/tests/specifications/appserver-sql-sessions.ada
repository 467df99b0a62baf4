with Appserver.SQL.Sessions;
with Appserver.SQL.SQLite;

package Shop_Sessions is

   use Appserver.SQL;

   @1

   procedure Read_Names;

end Shop_Sessions;

package body Shop_Sessions is

   procedure Read_Names is
   begin
      @2
            null;
         end loop;
      end;
   end Read_Names;

end Shop_Sessions;
