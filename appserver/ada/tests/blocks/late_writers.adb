--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Task_Identification;
with Appserver.Caches.Wait_Free;
with GNAT.OS_Lib;
with Item_Caches;
with Tracked;

package body Late_Writers is

   package Wait_Free is new Item_Caches.Caches.Wait_Free;

   Map : Wait_Free.Cache;

   Key_Read : constant := Item_Caches.Blocked_Compare - 1;

   task Reader is
      entry Start;
   end Reader;

   task body Reader is
      Item     : Tracked.Item;
      Is_Found : Boolean;
   begin
      accept Start;
      Map.Get (Item_Caches.Blocked_Compare, Item, Is_Found);
   end Reader;

   procedure Put (Key : Integer) is
   begin
      Map.Put (Key, Tracked.New_Item (Key));
   end Put;

   task Writer;

   task body Writer is
      use Ada.Task_Identification;
      Before : Integer;
   begin
      while Is_Callable (Environment_Task) loop
         delay 0.001;
      end loop;
      Put (Key_Read);
      Put (1);
      Before := Tracked.Live;
      Reader.Start;
      while not Item_Caches.Is_Comparing loop
         delay 0.001;
      end loop;
      Put (1);
      delay 0.3;  --  enough time to free replaced items if there were no reader
      Item_Caches.Goes_On := True;
      while not Reader'Terminated loop
         delay 0.001;
      end loop;
      Put (1);
      for Wait in 1 .. 60_000 loop
         exit when Tracked.Live < Before;  --  the item of Reader was also freed
         delay 0.001;
      end loop;
      if Tracked.Live >= Before then
         GNAT.OS_Lib.OS_Exit (1);
      end if;
   end Writer;

end Late_Writers;
