--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;

package body Appserver.SQL.Statement_Caches is

   use type Interfaces.Integer_64;
   use type Interfaces.Unsigned_32;

   procedure Free is new Ada.Unchecked_Deallocation (UTF_8_String, Text_Access);
   procedure Free is new Ada.Unchecked_Deallocation (Statement, Statement_Access);

   procedure Forget_Statements (Self : in out Statement_Cache) is
   begin
      for Slot of Self.Cached (1 .. Self.Filled) loop
         Slot.Query.Close;
         Free (Slot.Text);
         Slot.Is_In_Use := False;
         Slot.Visit     := (if Slot.Visit = Natural'Last then 0 else Slot.Visit + 1);
      end loop;
      Self.Chains := [others => 0];
      Self.Filled := 0;
      Self.In_Use := 0;
   end Forget_Statements;

   --  Closes the connection first, since the server then drops its statements without further
   --  requests

   procedure Close (Self : aliased in out Statement_Cache) is
   begin
      Self.DB.Close;
      Forget_Statements (Self);
   end Close;

   overriding procedure Finalize (Self : in out Statement_Cache) is
   begin
      Self.DB.Close;
      Forget_Statements (Self);
   end Finalize;

   ----------------
   -- Statements --
   ----------------

   --  Hashes the length and 16 bytes, which is enough, since the texts found are compared
   --  completely

   function Chain_Of (Text : UTF_8_String) return Chain_Index is
      Samples : constant := 16;
      Step    : constant Positive := Text'Length / Samples + 1;
      Hash    : Interfaces.Unsigned_32 := Interfaces.Unsigned_32 (Text'Length);
      Place   : Natural := Text'First;
   begin
      while Place <= Text'Last loop
         Hash  := Hash * 31 + Character'Pos (Text (Place));
         Place := Place + Step;
      end loop;
      return Chain_Index ((Hash xor Interfaces.Shift_Right (Hash, 7)) mod 128);
   end Chain_Of;

   function Slot_Of (Self : Statement_Cache; Text : UTF_8_String) return Slot_Count is
      Slot : Slot_Count := Self.Chains (Chain_Of (Text));
   begin
      while Slot > 0 and then Self.Cached (Slot).Text.all /= Text loop
         Slot := Self.Cached (Slot).Next;
      end loop;
      return Slot;
   end Slot_Of;

   procedure Link (Self : in out Statement_Cache; Slot : Slot_Count) is
      Chain : Slot_Count renames Self.Chains (Chain_Of (Self.Cached (Slot).Text.all));
   begin
      Self.Cached (Slot).Next := Chain;
      Chain := Slot;
   end Link;

   procedure Unlink (Self : in out Statement_Cache; Slot : Slot_Count) is
      Chain  : Slot_Count renames Self.Chains (Chain_Of (Self.Cached (Slot).Text.all));
      Before : Slot_Count := Chain;
   begin
      if Chain = Slot then
         Chain := Self.Cached (Slot).Next;
      else
         while Self.Cached (Before).Next /= Slot loop
            Before := Self.Cached (Before).Next;
         end loop;
         Self.Cached (Before).Next := Self.Cached (Slot).Next;
      end if;
   end Unlink;

   --  Returns the least recently used slot; 0 if all slots are in use

   function Least_Recent (Self : Statement_Cache) return Slot_Count is
      Found : Slot_Count := 0;
   begin
      for Slot in 1 .. Self.Filled loop
         if not Self.Cached (Slot).Is_In_Use
           and then (Found = 0
                     or else Self.Cached (Slot).Last_Use < Self.Cached (Found).Last_Use)
         then
            Found := Slot;
         end if;
      end loop;
      return Found;
   end Least_Recent;

   --  Takes a slot for a new text; 0 if there is none. The text is stored before it is prepared. If
   --  preparing fails, the next use prepares again.

   procedure Take_Slot
     (Self : in out Statement_Cache; Text : UTF_8_String; Slot : out Slot_Count) is
   begin
      if Self.Filled < Max_Statements then
         Self.Filled := Self.Filled + 1;
         Slot := Self.Filled;
      else
         Slot := Least_Recent (Self);
         if Slot = 0 then
            return;
         end if;
         Unlink (Self, Slot);
         Self.Cached (Slot).Query.Close;
         Free (Self.Cached (Slot).Text);
      end if;
      Self.Cached (Slot).Text := new UTF_8_String'(Text);
      Link (Self, Slot);
   end Take_Slot;

   function Uncached
     (From : not null Cache_Access; Text : UTF_8_String) return Prepared_Statement
   is
      Query : Statement_Access := new Statement;
   begin
      Prepare (Query.all, From.DB, Text);
      return Result : Prepared_Statement (Query) do
         Result.Held.Other := Query;
      end return;
   exception
      when others =>
         Free (Query);
         raise;
   end Uncached;

   function Prepared
     (Self : aliased in out Statement_Cache; Text : UTF_8_String) return Prepared_Statement
   is
      From : constant not null Cache_Access := Self'Unchecked_Access;
      Slot : Slot_Count := Slot_Of (From.all, Text);
   begin
      if Slot = 0 then
         Take_Slot (From.all, Text, Slot);
      end if;
      if Slot = 0 or else From.Cached (Slot).Is_In_Use then
         return Uncached (From, Text);
      end if;
      declare
         Cached : Cached_Statement renames From.Cached (Slot);
      begin
         if Cached.Query.Is_Open then
            Cached.Query.Unbind;
         else
            Prepare (Cached.Query, From.DB, Text);
         end if;
         From.Uses       := From.Uses + 1;
         From.In_Use     := From.In_Use + 1;
         Cached.Last_Use := From.Uses;
         return Result : Prepared_Statement (Cached.Query'Unchecked_Access) do
            Cached.Is_In_Use := True;
            Result.Held.Cache := From;
            Result.Held.Cached          := From.Cached (Slot)'Unchecked_Access;
            Result.Held.Visit           := Cached.Visit;
         end return;
      end;
   end Prepared;

   --  A statement that cannot be reset, or that the server has dropped, is closed. Its next use
   --  prepares it again.

   procedure Leave (Query : in out Statement) is
   begin
      if SQL.Statement'Class (Query).Is_Stale then
         Query.Close;
      elsif Query.Is_Open then
         Query.Reset;
      end if;
   exception
      when SQL_Error => Query.Close;
   end Leave;

   overriding procedure Finalize (Self : in out Hold) is
   begin
      if Self.Other /= null then
         Free (Self.Other);
      elsif Self.Cached /= null and then Self.Cached.Visit = Self.Visit then
         Leave (Self.Cached.Query);
         Self.Cached.Is_In_Use := False;
         Self.Cache.In_Use     := Self.Cache.In_Use - 1;
      end if;
      Self.Cached := null;
   end Finalize;

end Appserver.SQL.Statement_Caches;
