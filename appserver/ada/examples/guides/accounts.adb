--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Appserver.HTTP.REST;
with Appserver.Retry.Transactions;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;

package body Accounts is

   use Appserver;
   use Appserver.HTTP.REST;
   use Appserver.SQL;
   use type Integer_64;

   procedure Open (DB : in out SQLite.Connection) is
   begin
      DB.Open (Ada.Command_Line.Argument (2));
      DB.Set_Busy_Timeout (10.0);
      DB.Execute
        ("CREATE TABLE IF NOT EXISTS account"
         & " (id integer PRIMARY KEY, balance integer CHECK (balance >= 0))");
      DB.Execute
        ("CREATE TABLE IF NOT EXISTS retry_key (id text PRIMARY KEY, result text, request text,"
         & " created timestamp DEFAULT CURRENT_TIMESTAMP)");
      DB.Execute
        ("INSERT INTO account VALUES (1, 1000), (2, 1000), (3, 1000) ON CONFLICT DO NOTHING");
   end Open;

   package Databases is new SQL.Pools (SQLite.Connection, SQLite.Statement, Open, SQLite.Prepare);
   package Transactions is new Retry.Transactions (SQLite.Connection, Open);

   Database : aliased Databases.Pool (Capacity => 4);
   Policy   : constant Retry.Policy := (Attempts => 5, Deadline => 20.0, others => <>);

   type Account_Id is range 1 .. 3;
   type Amount_Type is range 1 .. 1_000;

   procedure Transfer
     (From, To : Account_Id; Amount : Amount_Type; Response : in out Document_Response)
   is
      Key : constant String := Response.Request.Field ("Idempotency-Key");

      --  Runs in a transaction, which also stores the key and the result

      function Move (DB : in out SQLite.Connection) return UTF_8_String is
         Update : SQLite.Statement;
      begin
         Update.Prepare (DB, "UPDATE account SET balance = balance + ? WHERE id = ?");
         Update.Bind (1, -Integer_64 (Amount));
         Update.Bind (2, Integer_64 (From));
         Update.Execute;
         Update.Bind (1, Integer_64 (Amount));
         Update.Bind (2, Integer_64 (To));
         Update.Execute;
         return "done";
      end Move;

      Held : Databases.Lease (Database'Access);

   begin
      if Key'Length not in 16 .. 100 then
         Response.Refuse (HTTP.Bad_Request, "Idempotency-Key must have 16 to 100 characters");
         return;
      end if;
      Held.Get (Timeout => 10.0);
      Response.Start_Document;
      Response.Write_Entity
        ("transfer",
         Transactions.Run_Once
           (Policy, Held.DB, Key, Move'Access, Request => Response.Request.Query));
      Response.End_Document;
   exception
      when Retry.Key_Reused_Error =>
         Response.Refuse (HTTP.Unprocessable_Content, "the key belongs to another transfer");
      when Error : SQL_Error =>
         if Error_Of (Error).Kind = Check_Violation then
            Response.Refuse (HTTP.Conflict, "the balance does not cover the transfer");
         else
            raise;
         end if;
   end Transfer;

   procedure Show (Response : in out Document_Response) is
      Held : Databases.Lease (Database'Access);
   begin
      Held.Get (Timeout => 10.0);
      declare
         Query : constant Databases.Prepared_Statement :=
           Held.Prepared ("SELECT balance FROM account ORDER BY id");
      begin
         Response.Start_Document;
         Response.Start_List ("balances", Each => "balance");
         while Query.Step loop
            Response.Write_Item (Query.As_Integer_64 (1));
         end loop;
         Response.End_List;
         Response.End_Document;
      end;
   end Show;

   package Froms is new Integer_Parameters (Account_Id, "from", In_Query);
   package Tos is new Integer_Parameters (Account_Id, "to", In_Query);
   package Amounts is new Integer_Parameters (Amount_Type, "amount", In_Query);
   procedure Transferring is new With_Three_Parameters
     (Froms.Parameter, Tos.Parameter, Amounts.Parameter, Transfer);

   API : constant Service := Service_Of
     ([Route (HTTP.Post, "/transfers", Transferring'Access),
       Route (HTTP.Get,  "/accounts",  Show'Access)]);

   function Respond (Request : HTTP.Request) return HTTP.Response is (API.Respond (Request));

end Accounts;
