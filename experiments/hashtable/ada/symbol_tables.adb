--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;

package body Symbol_Tables is

   use Interfaces;

   procedure Free is new Ada.Unchecked_Deallocation (Known_Symbol, Known_Symbol_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Bucket_Array, Bucket_Array_Reference);

   overriding procedure Initialize (Self : in out Table) is
   begin
      Self.Chains := new Bucket_Array (0 .. Self.Buckets - 1);
   end Initialize;

   procedure Look_Up (Self : in out Table; Name : Symbol; Number : out Positive) is
      Place : Bucket renames Self.Chains (Natural (Name mod Symbol (Self.Buckets)));
      Here  : Known_Symbol_Reference := Place.First;
   begin
      while Here /= null loop
         if Here.Name = Name then
            Number := Here.Number;
            return;
         end if;
         Here := Here.Next;
      end loop;
      Self.Known   := Self.Known + 1;
      Place.First  := new Known_Symbol'(Name, Self.Known, Place.First);
      Place.Length := Place.Length + 1;
      Number       := Self.Known;
   end Look_Up;

   overriding procedure Finalize (Self : in out Table) is
   begin
      if Self.Chains = null then
         return;
      end if;
      for Place of Self.Chains.all loop
         while Place.Length > 0 loop
            declare
               First : Known_Symbol_Reference := Place.First;
            begin
               Place.First  := First.Next;
               Place.Length := Place.Length - 1;
               Free (First);
            end;
         end loop;
      end loop;
      Free (Self.Chains);
   end Finalize;

end Symbol_Tables;
