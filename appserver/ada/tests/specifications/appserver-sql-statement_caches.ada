with Appserver.SQL.Statement_Caches;
with Appserver.SQL.SQLite;

package Shop_Statements is

   use Appserver.SQL;

   @1

   procedure Read_Names;

end Shop_Statements;

package body Shop_Statements is

   procedure Read_Names is
   begin
      @2
            null;
         end loop;
      end;
   end Read_Names;

end Shop_Statements;
