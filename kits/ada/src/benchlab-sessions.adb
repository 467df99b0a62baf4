--  SPDX-License-Identifier: Apache-2.0

with Ada.Characters.Handling;
with Ada.Exceptions;
with Ada.Strings.Fixed;
with Ada.Unchecked_Deallocation;
with Benchlab.Fields;
with Benchlab.Kernel;
with Benchlab.Latencies;
with Benchlab.Lines;
with Benchlab.Noop;
with Benchlab.Operation_Sets;
with Benchlab.Seeded_Sequences;

package body Benchlab.Sessions is

   use Interfaces;
   use type Cases.Case_Reference;

   -------------
   -- Replies --
   -------------

   Too_Long_Error : exception;

   function Reply (Verb : String; Fields : Benchlab.Fields.Field_List) return String is
      Line : constant String := "@lab " & Verb & Fields.Image;
   begin
      if Line'Length > Lines.Max_Length then
         raise Too_Long_Error with
           "the reply would be longer than" & Lines.Max_Length'Image
           & " bytes; perform fewer operations";
      end if;
      return Line;
   end Reply;

   function Error_Reply (Code : Error_Code; Message : String) return String is
      Fields : Benchlab.Fields.Field_List;
   begin
      Fields.Add ("code", Ada.Characters.Handling.To_Lower (Code'Image));
      Fields.Add ("message", Message);
      return Reply ("error", Fields);
   end Error_Reply;

   function Hello (Subject, Library : String) return String is
      Fields : Benchlab.Fields.Field_List;
   begin
      Fields.Add ("protocol", 1);
      Fields.Add ("subject", Subject);
      Fields.Add ("thread", Unsigned_64 (Kernel.Current_Thread));
      Fields.Add ("runtime", Standard'Compiler_Version);
      Fields.Add ("library", Library);
      return Reply ("hello", Fields);
   end Hello;

   --------------
   -- The case --
   --------------

   procedure Free is new Ada.Unchecked_Deallocation
     (Cases.Subject_Case'Class, Cases.Case_Reference);

   overriding procedure Finalize (Self : in out Session) is
   begin
      Free (Self.Current);
   end Finalize;

   procedure Make_Case (Self : in out Session; Name : String) is
   begin
      Self.Current := (if Name = "noop" then new Noop.Noop_Case else Self.New_Case (Name));
      if Self.Current = null then
         raise Unsupported_Error with "unknown case " & Name;
      end if;
   end Make_Case;

   function Open
     (Self : in out Session; Arguments : Fields.Field_List) return Fields.Field_List
   is
      Seed : constant Unsigned_64 := Arguments.Number ("seed");
   begin
      Make_Case (Self, Arguments.Text ("case"));
      return Settings : Fields.Field_List do
         Self.Current.Open (Arguments, Seeded_Sequences.Values (Seed), Settings);
      end return;
   exception
      when others =>
         Free (Self.Current);
         raise;
   end Open;

   procedure Close (Self : in out Session) is
   begin
      Self.Current.Close;
      Free (Self.Current);
   exception
      when others =>
         Free (Self.Current);
         raise;
   end Close;

   -------------
   -- Batches --
   -------------

   type Batch is record
      Operations  : Operation_Count;
      Start, Stop : Kernel.Nanoseconds;
      Check       : Check_Value;
      Units       : Unit_Count;
   end record;

   --  The two readings of the clock enclose only the dispatching call

   function Perform (Self : Session; Operations : Unsigned_64) return Batch is
   begin
      return Result : Batch do
         Result.Operations := Operation_Count (Operations);
         Result.Start := Kernel.Monotonic_Time;
         Self.Current.Perform (Result.Operations, Result.Check, Result.Units);
         Result.Stop := Kernel.Monotonic_Time;
      end return;
   end Perform;

   Max_Operations : constant Unsigned_64 := Unsigned_64 (Operation_Count'Last);

   procedure Need_Work (Self : Session) is
   begin
      if Self.Current.all in Cases.Serving_Case'Class then
         raise Unsupported_Error with "the case is a server: other programs generate its load";
      end if;
   end Need_Work;

   procedure Add_Failed (Self : Session; Reply : in out Fields.Field_List) is
   begin
      if Self.Current.all in Cases.Fallible_Case'Class then
         Reply.Add
           ("failed",
            Operation_Sets.Image (Cases.Fallible_Case'Class (Self.Current.all).Failed));
      end if;
   end Add_Failed;

   function Verify
     (Self : Session; Arguments : Fields.Field_List) return Fields.Field_List
   is
      Result : constant Batch := Perform
        (Self,
         (if Arguments.Has ("operations")
          then Arguments.Number ("operations", 1, Max_Operations) else 1));
   begin
      return Reply : Fields.Field_List do
         Reply.Add ("check", Result.Check);
         Reply.Add ("operations", Unsigned_64 (Result.Operations));
         Reply.Add ("units", Unsigned_64 (Result.Units));
         Add_Failed (Self, Reply);
      end return;
   end Verify;

   function Run
     (Self : Session; Arguments : Fields.Field_List) return Fields.Field_List
   is
      Result   : Batch := Perform (Self, Arguments.Number ("operations", 1, Max_Operations));
      Recorder : Latencies.Recorder; --  empty if the case reports no latencies
   begin
      if Self.Current.all in Cases.Concurrent_Case'Class then
         Recorder     := Cases.Concurrent_Case'Class (Self.Current.all).Measured;
         Result.Start := Recorder.First_Start;
         Result.Stop  := Recorder.Last_End;
      end if;
      return Reply : Fields.Field_List do
         Reply.Add ("start", Unsigned_64 (Result.Start));
         Reply.Add ("end", Unsigned_64 (Result.Stop));
         Reply.Add ("operations", Unsigned_64 (Result.Operations));
         Reply.Add ("units", Unsigned_64 (Result.Units));
         Reply.Add ("check", Result.Check);
         if Recorder.Operations > 0 then
            Reply.Add ("latencies", Recorder.Image);
         end if;
         if Self.Current.all in Cases.Measuring_Case'Class then
            Reply.Append (Cases.Measuring_Case'Class (Self.Current.all).Metrics);
         end if;
         Add_Failed (Self, Reply);
      end return;
   end Run;

   -------------
   -- Serving --
   -------------

   procedure Wait (Self : in out Session; Commands : Natural) is
   begin
      if Self.Current /= null and then Self.Current.all in Cases.Serving_Case'Class then
         Cases.Serving_Case'Class (Self.Current.all).Wait (Commands);
      end if;
   end Wait;

   --------------
   -- Commands --
   --------------

   procedure Need_Case (Self : Session; Open : Boolean) is
   begin
      if Open and then Self.Current = null then
         raise Usage_Error with "no case is open";
      elsif not Open and then Self.Current /= null then
         raise Usage_Error with "a case is open: close it first";
      end if;
   end Need_Case;

   function Carry_Out
     (Self : in out Session; Verb : String; Arguments : Fields.Field_List) return String is
   begin
      if Verb = "open" then
         Need_Case (Self, Open => False);
         return Reply ("opened", Open (Self, Arguments));
      elsif Verb = "verify" then
         Need_Case (Self, Open => True);
         Need_Work (Self);
         return Reply ("verified", Verify (Self, Arguments));
      elsif Verb = "run" then
         Need_Case (Self, Open => True);
         Need_Work (Self);
         return Reply ("ran", Run (Self, Arguments));
      elsif Verb = "close" then
         Need_Case (Self, Open => True);
         Close (Self);
         return Reply ("closed", Fields.None);
      elsif Verb = "quit" then
         Self.Over := True;
         return "";
      else
         raise Usage_Error with "unknown command " & Verb;
      end if;
   end Carry_Out;

   function Answer (Self : in out Session; Line : String) return String is
      use Ada.Exceptions;

      Space : constant Natural := Ada.Strings.Fixed.Index (Line, " ");
      Verb  : String renames Line (Line'First .. (if Space = 0 then Line'Last else Space - 1));
   begin
      return Carry_Out
        (Self, Verb,
         (if Space = 0 then Fields.None else Fields.Parsed (Line (Space + 1 .. Line'Last))));
   exception
      when Error : Usage_Error =>
         return Error_Reply (Usage, Exception_Message (Error));
      when Error : Unsupported_Error =>
         return Error_Reply (Unsupported, Exception_Message (Error));
      when Error : others =>
         return Error_Reply
           (Failed, Exception_Name (Error) & ": " & Exception_Message (Error));
   end Answer;

end Benchlab.Sessions;
