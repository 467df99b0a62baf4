--  SPDX-License-Identifier: Apache-2.0

package body Unsafe_Copied_Maps is

   use Map_References;

   procedure Find
     (Map      : Hashed_Maps.Map;
      Key      : Unsigned_64;
      Element  : in out Unsigned_64;
      Is_Found : out Boolean)
   is
      Place : constant Hashed_Maps.Cursor := Map.Find (Key);
   begin
      Is_Found := Hashed_Maps.Has_Element (Place);
      if Is_Found then
         Element := Hashed_Maps.Element (Place);
      end if;
   end Find;

   overriding procedure Get
     (Self     : in out Unsafe_Copied_Map;
      Key      : Unsigned_64;
      Element  : in out Unsigned_64;
      Is_Found : out Boolean)
   is
      Now : Reference;
   begin
      Is_Found := False;
      Self.Current.Get (Into => Now);
      if not Now.Is_Null then
         Find (Now.Value, Key, Element, Is_Found);
      end if;
   end Get;

   function Copy_Of (Old : Reference) return not null Element_Access is
     (if Old.Is_Null then new Hashed_Maps.Map else new Hashed_Maps.Map'(Old.Value));

   --  Only a Compare_And_Set could detect another writer

   overriding procedure Put (Self : in out Unsafe_Copied_Map; Key, Element : Unsigned_64) is
      Now  : Reference;
      Copy : Element_Access;
   begin
      Self.Current.Get (Into => Now);
      Copy := Copy_Of (Now);
      Copy.Include (Key, Element);
      Self.Current.Set (New_Reference (Copy));
   end Put;

   overriding procedure Remove (Self : in out Unsafe_Copied_Map; Key : Unsigned_64) is
      Now  : Reference;
      Copy : Element_Access;
   begin
      Self.Current.Get (Into => Now);
      Copy := Copy_Of (Now);
      Copy.Exclude (Key);
      Self.Current.Set (New_Reference (Copy));
   end Remove;

   overriding procedure Clear (Self : in out Unsafe_Copied_Map) is
   begin
      Self.Current.Set (Null_Reference);
   end Clear;

   overriding function Length (Self : in out Unsafe_Copied_Map) return Natural is
      Now : Reference;
   begin
      Self.Current.Get (Into => Now);
      return (if Now.Is_Null then 0 else Natural (Now.Value.Length));
   end Length;

end Unsafe_Copied_Maps;
