--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;
with Appserver.Caches.Copy_On_Write;
with Appserver.Caches.Locked;
with Appserver.Caches.Unsynchronized;
with Appserver.Caches.Wait_Free;
with Unsafe_Copied_Maps;

package body Shared_Maps is

   package Locked_Maps is new Maps.Locked;
   package Copied_Maps is new Maps.Copy_On_Write;
   package Wait_Free_Maps is new Maps.Wait_Free;
   package Unsynchronized_Maps is new Maps.Unsynchronized;

   procedure Make (Number : Positive; Key : out Unsigned_64; Element : out Unsigned_64) is
   begin
      Key     := Unsigned_64 (Number - 1);
      Element := Unsigned_64 (Number);
   end Make;

   procedure Fill (Map : in out Maps.Cache'Class; Entries : Natural) is
      Key, Element : Unsigned_64;
   begin
      for Number in 1 .. Entries loop
         Make (Number, Key, Element);
         Map.Put (Key, Element);
      end loop;
   end Fill;

   function New_Map (Kind : Scheme; Entries : Natural) return not null Map_Reference is
      Result : constant not null Map_Reference :=
        (case Kind is
            when Unsynchronized         => new Unsynchronized_Maps.Cache,
            when Lock | Read_Write_Lock => new Locked_Maps.Cache,
            when Copy_On_Write          => new Copied_Maps.Cache,
            when Unsafe_Copy_On_Write   => new Unsafe_Copied_Maps.Unsafe_Copied_Map,
            when Concurrent             => new Wait_Free_Maps.Cache);
   begin
      if Kind = Copy_On_Write then
         Copied_Maps.Cache (Result.all).Put_All (Entries, Make'Access);
      else
         Fill (Result.all, Entries);
      end if;
      return Result;
   end New_Map;

   function New_Bounded_Map (Capacity : Positive) return not null Map_Reference is
     (new Wait_Free_Maps.Cache (Capacity, Time_To_Live => Maps.Forever));

   procedure Deallocate is new Ada.Unchecked_Deallocation (Maps.Cache'Class, Map_Reference);

   procedure Free (Self : in out Map_Reference) is
   begin
      Deallocate (Self);
   end Free;

end Shared_Maps;
