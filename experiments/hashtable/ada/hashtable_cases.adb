--  SPDX-License-Identifier: Apache-2.0

package body Hashtable_Cases is

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "parse" then new Parse_Case else null);

   type Document_Size is (Few, Many);

   function Size_Of is new Fields.Choice_Of (Document_Size);

   Symbol_Counts : constant array (Document_Size) of Parsing.Symbol_Count :=
     [Few => 400, Many => 4_000];

   overriding procedure Open
     (Self      : in out Parse_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);
   begin
      Self.Names   := Inputs;
      Self.Buckets := Positive (Arguments.Number ("buckets", 1, Symbol_Tables.Max_Buckets));
      Self.Symbols := Symbol_Counts (Size_Of (Arguments, "symbols"));
   end Open;

   overriding procedure Perform
     (Self       : in out Parse_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Check := 0;
      for Operation in 1 .. Operations loop
         Parsing.Parse (Self.Names, Self.Buckets, Self.Symbols, Sum => Check);
      end loop;
      Units := Unit_Count (Operations) * Unit_Count (Parsing.Lookups * Self.Symbols);
   end Perform;

end Hashtable_Cases;
