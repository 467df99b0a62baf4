--  SPDX-License-Identifier: Apache-2.0

with Appserver.Retry;

package body Calls is

   use Interfaces;
   use Target_Sessions;

   Read           : constant String := "SELECT value FROM test_simple WHERE id = ?";
   Add            : constant String := "UPDATE test_simple SET value = value + 1 WHERE id = ?";
   Subtract       : constant String := "UPDATE test_simple SET value = value - 1 WHERE id = ?";
   Add_To_Version : constant String := Add & " AND value = ?";

   procedure Change_Row
     (On : aliased in out Statement_Caches.Statement_Cache; Text : String; Id : Integer_64)
   is
      Change : constant Statement_Caches.Prepared_Statement := On.Prepared (Text);
   begin
      Change.Bind (1, Id);
      Change.Execute;
   end Change_Row;

   procedure Counter
     (On : aliased in out Statement_Caches.Statement_Cache; Input : Unsigned_64)
   is
      pragma Unreferenced (Input);
   begin
      Change_Row (On, Add, 1);
   end Counter;

   procedure Transfer (On : aliased in out Statement_Caches.Statement_Cache; Input : Unsigned_64) is
      Giver : constant Unsigned_64 := Input mod 100 + 1;
      Taker : constant Unsigned_64 := (Giver + Input / 100 mod 99) mod 100 + 1;
   begin
      Change_Row (On, Subtract, Integer_64 (Giver));
      Change_Row (On, Add, Integer_64 (Taker));
   end Transfer;

   function Version_Of
     (On : aliased in out Statement_Caches.Statement_Cache; Id : Integer_64) return Integer_64
   is
      Query : constant Statement_Caches.Prepared_Statement := On.Prepared (Read);
   begin
      Query.Bind (1, Id);
      if not Query.Step then
         raise Program_Error with "the query returned no row" & Id'Image;
      end if;
      return Query.As_Integer_64 (1);
   end Version_Of;

   procedure Change_Record
     (On : aliased in out Statement_Caches.Statement_Cache; Input : Unsigned_64) is
      Id      : constant Integer_64 := Integer_64 (Input mod 10 + 1);
      Version : constant Integer_64 := Version_Of (On, Id);
      Change  : constant Statement_Caches.Prepared_Statement := On.Prepared (Add_To_Version);
   begin
      Change.Bind (1, Id);
      Change.Bind (2, Version);
      Change.Execute;
      Appserver.Retry.Check_Version (On.DB);
   end Change_Record;

   procedure Order
     (On : aliased in out Statement_Caches.Statement_Cache; Input : Unsigned_64) is null;

   function Of_Case (Name : String) return Work is
     (if Name = "counter" then Counter'Access
      elsif Name = "transfer" then Transfer'Access
      elsif Name = "record" then Change_Record'Access
      elsif Name in "order" | "outage" | "arrivals" then Order'Access
      else null);

end Calls;
