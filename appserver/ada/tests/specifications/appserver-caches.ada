with Ada.Containers;
with Appserver.Caches;
with Appserver.Caches.Wait_Free;

procedure Cached_Prices is

   type Article is new Positive;
   type Money is delta 0.01 digits 12;

   Article_7 : constant Article := 7;

   function Hash (Key : Article) return Ada.Containers.Hash_Type is
     (Ada.Containers.Hash_Type (Key));

   function From_Database (Key : Article) return Money is (Money (Key));

   Price : Money;

   @2
begin
   @3
   pragma Assert (Price = 7.0);
end Cached_Prices;
