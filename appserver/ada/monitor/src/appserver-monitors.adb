--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with Appserver.Thread_Clocks;
with System;

package body Appserver.Monitors is

   use Thread_Clocks;

   function Clock return Nanoseconds is (Thread_Clocks.Monotonic);

   function Unix_Milliseconds return Word is (Thread_Clocks.Unix_Milliseconds);

   type Request_Access is access all Timed_Request;

   Current : Request_Access := null with Thread_Local_Storage;

   -----------
   -- Names --
   -----------

   protected body Registrar is

      procedure Add_Page
        (Into : in out Monitor'Class; Text : String; Hash : Word; Number : out Natural) is
      begin
         Number := Found (Into.Page_Names, Text, Hash);
         if Number = 0 and then not Is_Full (Into.Page_Names) then
            Number := Used (Into.Page_Names) + 1;
            Into.Pages (Number) := new Page (Into.Hours, Into.Max_Queries, Into.Stripes);
            Add (Into.Page_Names, Text, Hash);
         end if;
      end Add_Page;

      procedure Add_Query
        (Into : in out Monitor'Class; Text : String; Hash : Word; Number : out Query_Number) is
      begin
         Number := Found (Into.Query_Names, Text, Hash);
         if Number = 0 and then not Is_Full (Into.Query_Names) then
            Number := Used (Into.Query_Names) + 1;
            Add (Into.Query_Names, Text, Hash);
         end if;
      end Add_Query;

      procedure Add_Pair
        (Into : in out Monitor'Class; On : in out Page; Number : in out Query_Number) is
      begin
         if On.Queries (Number) = null and then Into.Pairs = Word (Into.Max_Queries) then
            Number := 0;
         end if;
         if On.Queries (Number) = null then
            if Number > 0 then
               Store (Into.Pairs, Into.Pairs + 1);
            end if;
            On.Queries (Number) := new Counted;
         end if;
      end Add_Pair;

   end Registrar;

   function Number_Of
     (Self : in out Monitor'Class; Name : Folded_Names.Page_Name; May_Add : Boolean) return Natural
     with Inline;
   function Number_Of
     (Self : in out Monitor'Class; Name : Folded_Names.Page_Name; May_Add : Boolean) return Natural
   is
      Hash   : constant Word := Folded_Names.Hash (Name);
      Number : Natural := Found (Self.Page_Names, Folded_Names.Text (Name), Hash);
   begin
      if Number = 0 and then May_Add and then not Is_Full (Self.Page_Names) then
         Self.Register.Add_Page (Self, Folded_Names.Text (Name), Hash, Number);
      end if;
      return Number;
   end Number_Of;

   function Query_Of
     (Self  : in out Monitor;
      Text  : String;
      Rules : Folded_Names.Text_Rules := (others => <>)) return Query
   is
      Name   : constant String := Folded_Names.Query (Text, Rules);
      Hash   : constant Word := Folded_Names.Hash (Name);
      Number : Natural := Found (Self.Query_Names, Name, Hash);
   begin
      if Number = 0 and then not Is_Full (Self.Query_Names) then
         Self.Register.Add_Query (Self, Name, Hash, Number);
      end if;
      return (Number => Number);
   end Query_Of;

   function Name_Of (Self : Monitor; Number : Query_Number) return String is
     (if Number = 0 then Other else Text (Self.Query_Names, Number));

   --------------
   -- Counting --
   --------------

   procedure Count
     (Into : in out Counted; Elapsed : Word; Is_Failed : Boolean; Is_Refused : Boolean := False)
     with Inline;
   procedure Count
     (Into : in out Counted; Elapsed : Word; Is_Failed : Boolean; Is_Refused : Boolean := False) is
   begin
      Histograms.Record_Value (Into.Times, Elapsed);
      Atomic_Words.Add (Into.Count, 1);
      Atomic_Words.Add (Into.Total, Elapsed);
      if Elapsed > Load (Into.Max) then
         Raise_To (Into.Max, Elapsed);
      end if;
      if Is_Failed then
         Atomic_Words.Add (Into.Errors, 1);
      elsif Is_Refused then
         Atomic_Words.Add (Into.Client_Errors, 1);
      end if;
   end Count;

   --  CPU_Time is added for each request since the last measured request

   procedure Count_CPU (Into : in out Counted; CPU_Time : Word) with No_Inline;
   procedure Count_CPU (Into : in out Counted; CPU_Time : Word) is
      Before      : constant Word := Load (Into.Counted_For_CPU);
      Latest      : constant Word := Load (Into.Count);
      Is_Replaced : Boolean;
   begin
      if Latest > Before then
         Replace (Into.Counted_For_CPU, Before, Latest, Is_Replaced);
         if Is_Replaced then
            Atomic_Words.Add (Into.CPU, CPU_Time * (Latest - Before));
         end if;
      end if;
   end Count_CPU;

   -----------
   -- Hours --
   -----------

   Milliseconds_Per_Hour : constant := 3_600_000;

   function Slot_Of (Self : Page; Number : Positive) return Positive is
     (1 + (Number - 1) mod Self.Hour_Count);

   function Start_Of (Self : Page; Hour : Word) return Hour_Start is
   begin
      return Result : Hour_Start := (Hour => Hour, others => 0) do
         for Each of Self.Statistics loop
            Result.Count  := Result.Count + Load (Each.Count);
            Result.Errors := Result.Errors + Load (Each.Errors);
            Result.Total  := Result.Total + Load (Each.Total);
         end loop;
      end return;
   end Start_Of;

   --  The first request of an hour begins the hour. The system clock is read once per minute, in
   --  case it was set. If it was set back, the current hour continues. The threshold of the
   --  examples is computed again each hour, since some examples become too old.

   procedure Look_At_Clock (Self : in out Page; Now : Word) with No_Inline;
   procedure Look_At_Clock (Self : in out Page; Now : Word) is
      Time        : constant Word := Unix_Milliseconds;
      Hour        : constant Word := Time / Milliseconds_Per_Hour;
      Left        : constant Word := Milliseconds_Per_Hour - Time mod Milliseconds_Per_Hour;
      Has_Claimed : Boolean;
   begin
      Replace (Self.Is_Turning, 0, 1, Has_Claimed);
      if not Has_Claimed then
         return;
      end if;
      if Self.Hour_Number = 0
        or else Self.Hours (Slot_Of (Self, Self.Hour_Number)).Hour < Hour
      then
         Self.Hour_Number := Self.Hour_Number + 1;
         Self.Hours (Slot_Of (Self, Self.Hour_Number)) := Start_Of (Self, Hour);
         Store (Self.Threshold, 0);
      end if;
      Store (Self.Next_Look, Now + Word'Min (60_000, Left) * 1_000_000);
      Store (Self.Is_Turning, 0);
   end Look_At_Clock;

   procedure Claim (Flag : aliased in out Word) is
      Has_Claimed : Boolean;
   begin
      loop
         Replace (Flag, 0, 1, Has_Claimed);
         exit when Has_Claimed;
         delay 0.0;
      end loop;
   end Claim;

   function Hours_Of (Item : in out Page) return Hour_List is
      Stored : constant Natural := Natural'Min (Item.Hour_Number, Item.Hour_Count);
      Result : Hour_List (1 .. Stored);
      Last   : Hour_Start;
   begin
      Claim (Item.Is_Turning);
      for K in Result'Range loop
         Result (K) := Item.Hours (Slot_Of (Item, Item.Hour_Number - Stored + K));
      end loop;
      Last := Start_Of (Item, 0);
      Store (Item.Is_Turning, 0);
      for K in Result'Range loop
         declare
            Next : constant Hour_Start := (if K = Stored then Last else Result (K + 1));
         begin
            Result (K).Count  := Next.Count - Result (K).Count;
            Result (K).Errors := Next.Errors - Result (K).Errors;
            Result (K).Total  := Next.Total - Result (K).Total;
         end;
      end loop;
      return Result;
   end Hours_Of;

   --------------
   -- Examples --
   --------------

   function Counts_As (Slot : Example_Slot; Second : Word) return Word is
     (if Load (Slot.At_Second) + Keep_Example_For < Second then 0 else Load (Slot.Elapsed));

   --  Returns the slot of the fastest example that no task has claimed; 0 if there is none

   function Fastest (Slots : Example_Slots; Second : Word) return Natural is
      Best : Natural := 0;
   begin
      for K in Slots'Range loop
         if Load (Slots (K).Is_Claimed) = 0
           and then (Best = 0
                     or else Counts_As (Slots (K), Second) < Counts_As (Slots (Best), Second))
         then
            Best := K;
         end if;
      end loop;
      return Best;
   end Fastest;

   procedure Note_Threshold (Self : in out Page; Second : Word) is
      Least : Word := Word'Last;
   begin
      for Slot of Self.Slowest loop
         Least := Word'Min (Least, Counts_As (Slot, Second));
      end loop;
      Store (Self.Threshold, Least);
   end Note_Threshold;

   procedure Fill
     (Into : out Example; Request : Timed_Request; Elapsed, CPU, Started_Ms : Word;
      Status : Natural; Path : String)
   is
      Length : constant Natural := Natural'Min (Path'Length, Max_Path_Length);
   begin
      Into.Elapsed     := Elapsed;
      Into.Started_Ms  := Started_Ms;
      Into.CPU         := CPU;
      Into.Status      := Status;
      Into.Path_Length := Length;
      Into.Path (1 .. Length) := Path (Path'First .. Path'First + Length - 1);
      Into.Part_Count  := Request.Sum_Count;
      Into.Parts (1 .. Request.Sum_Count) := Request.Sums (1 .. Request.Sum_Count);
   end Fill;

   --  Replaces the fastest example. Skips slots that other tasks have claimed. This is sufficient,
   --  since fewer tasks than the number of slots hold a slot for a long time at the same time.

   procedure Keep_Example
     (Self : in out Page; Request : Timed_Request; Elapsed, CPU : Word;
      Status : Natural; Path : String) with No_Inline;
   procedure Keep_Example
     (Self : in out Page; Request : Timed_Request; Elapsed, CPU : Word;
      Status : Natural; Path : String)
   is
      Now         : constant Word := Unix_Milliseconds;
      Second      : constant Word := Now / 1_000;
      Has_Claimed : Boolean;
   begin
      for Attempt in 1 .. 100 loop
         declare
            Place : constant Natural := Fastest (Self.Slowest, Second);
         begin
            if Place > 0 then
               exit when Counts_As (Self.Slowest (Place), Second) >= Elapsed;
               Replace (Self.Slowest (Place).Is_Claimed, 0, 1, Has_Claimed);
               if Has_Claimed then
                  if Counts_As (Self.Slowest (Place), Second) < Elapsed then
                     Fill
                       (Self.Slowest (Place).Item, Request, Elapsed, CPU,
                        Started_Ms => Now - Elapsed / 1_000_000, Status => Status, Path => Path);
                     Store (Self.Slowest (Place).Elapsed, Elapsed);
                     Store (Self.Slowest (Place).At_Second, Second);
                     Store (Self.Slowest (Place).Is_Claimed, 0);
                     exit;
                  end if;
                  Store (Self.Slowest (Place).Is_Claimed, 0);
               end if;
            end if;
         end;
      end loop;
      Note_Threshold (Self, Second);
   end Keep_Example;

   function Examples_Of (Item : in out Page) return Example_List is
      Second : constant Word := Unix_Milliseconds / 1_000;
      Copies : Example_List (1 .. Examples);
      Count  : Natural := 0;
      Place  : Positive;
   begin
      for Slot of Item.Slowest loop
         Claim (Slot.Is_Claimed);
         if Counts_As (Slot, Second) > 0 then
            Place := Count + 1;
            while Place > 1 and then Copies (Place - 1).Elapsed < Slot.Item.Elapsed loop
               Copies (Place) := Copies (Place - 1);
               Place := Place - 1;
            end loop;
            Copies (Place) := Slot.Item;
            Count := Count + 1;
         end if;
         Store (Slot.Is_Claimed, 0);
      end loop;
      return Copies (1 .. Count);
   end Examples_Of;

   -------------
   -- Queries --
   -------------

   function Pair_Of
     (Self : in out Monitor'Class; On : in out Page; Number : Query_Number) return Counted_Access
   is
      Found : Counted_Access := On.Queries (Number);
      Place : Query_Number   := Number;
   begin
      if Found = null and then Load (Self.Pairs) = Word (Self.Max_Queries) then
         Place := 0;
         Found := On.Queries (0);
      end if;
      if Found = null then
         Self.Register.Add_Pair (Self, On, Place);
         Found := On.Queries (Place);
      end if;
      return Found;
   end Pair_Of;

   procedure Add_Sum (Self : in out Timed_Request; Item : Part) is
      Place : Positive := 1;
   begin
      while Place <= Natural'Min (Self.Sum_Count, Max_Parts)
        and then Self.Sums (Place).Number /= Item.Number
      loop
         Place := Place + 1;
      end loop;
      if Place > Self.Sum_Count then
         Self.Sum_Count    := Place;
         Self.Sums (Place) := ((if Place > Max_Parts then 0 else Item.Number), 0, 0);
      end if;
      Self.Sums (Place).Count := Self.Sums (Place).Count + 1;
      Self.Sums (Place).Total := Self.Sums (Place).Total + Item.Elapsed;
   end Add_Sum;

   procedure Sum_Up (Self : in out Timed_Request) is
   begin
      for Item of Self.Parts (1 .. Self.Part_Count) loop
         Add_Sum (Self, Item);
      end loop;
   end Sum_Up;

   procedure Count_Parts (Self : in out Timed_Request; On : in out Page) is
   begin
      for Item of Self.Parts (1 .. Self.Part_Count) loop
         Count (Pair_Of (Self.Monitor.all, On, Item.Number).all, Item.Elapsed, Item.Is_Failed);
      end loop;
      Self.Part_Count := 0;
   end Count_Parts;

   procedure Count_Alone (Self : in out Monitor'Class; Item : Part) is
      On  : Page renames Self.Unassigned.all;
      Now : constant Word := Clock;
   begin
      if Now >= Load (On.Next_Look) then
         Look_At_Clock (On, Now);
      end if;
      Count (On.Statistics (Stripe (Self.Stripes)), Item.Elapsed, Item.Is_Failed);
      Count (Pair_Of (Self, On, Item.Number).all, Item.Elapsed, Item.Is_Failed);
   end Count_Alone;

   procedure Record_Query
     (Self : in out Monitor; Item : Query; Elapsed : Nanoseconds; Is_Failed : Boolean := False)
   is
      use type System.Address;

      Now : constant Request_Access := Current;
   begin
      if Now = null or else Now.Monitor.all'Address /= Self'Address then
         Count_Alone (Self, (Item.Number, Is_Failed, Elapsed));
      else
         if Now.Part_Count = Now.Parts'Last then
            declare
               On : constant Natural := Number_Of (Self, Now.Name, Now.May_Add);
            begin
               Sum_Up (Now.all);
               Count_Parts (Now.all, Self.Pages (On).all);
            end;
         end if;
         Now.Part_Count := Now.Part_Count + 1;
         Now.Parts (Now.Part_Count) := (Item.Number, Is_Failed, Elapsed);
      end if;
   end Record_Query;

   --------------
   -- Requests --
   --------------

   function Is_Of_Page (Method : String) return Boolean
   is (Method
       in "GET"
        | "HEAD"
        | "POST"
        | "PUT"
        | "PATCH"
        | "DELETE"
        | "QUERY"
        | "PROPFIND"
        | "PROPPATCH"
        | "REPORT"
        | "SEARCH"
        | "MKCOL"
        | "COPY"
        | "MOVE"
        | "LOCK"
        | "UNLOCK");
   --  Returns True if requests with a method may add pages: clients could otherwise add a page for
   --  each method that they invent, and for each path, because servers respond to OPTIONS and TRACE
   --  without looking for the resource.

   procedure Start (Self : aliased in out Timed_Request; Method, Path : String) is
      Is_Chosen : Boolean;
   begin
      Self.Started    := Clock;
      Self.Before     := 0;
      Self.Part_Count := 0;
      Self.Sum_Count  := 0;
      Folded_Names.Set_Route (Self.Name, Method, Path);
      Self.May_Add := Is_Of_Page (Method);
      Current := Self'Unchecked_Access;
      Thread_Clocks.Choose_Sample (Self.Started, Is_Chosen);
      if Is_Chosen then
         Self.CPU_Started := Thread_Clocks.CPU_Time;
         Self.Started     := Clock;
      else
         Self.CPU_Started := No_CPU;
      end if;
   end Start;

   procedure Pause (Self : in out Timed_Request) is
   begin
      Self.Before      := Self.Before + (Clock - Self.Started);
      Self.CPU_Started := No_CPU;
      Current          := null;
   end Pause;

   procedure Resume (Self : aliased in out Timed_Request) is
   begin
      Self.Started := Clock;
      Current      := Self'Unchecked_Access;
   end Resume;

   procedure Set_Page (Name : String) is
   begin
      if Current /= null then
         Folded_Names.Set (Current.Name, Name);
         Current.May_Add := True;
      end if;
   end Set_Page;

   procedure Finish (Self : in out Timed_Request; Status : Natural; Path : String := "") is
      Now     : constant Word := Clock;
      Elapsed : constant Word := Self.Before + (Now - Self.Started);
      CPU     : constant Word :=
        (if Self.CPU_Started = No_CPU then No_CPU else Thread_Clocks.CPU_Time - Self.CPU_Started);
      On      : Page renames Self.Monitor.Pages
        (Number_Of
           (Self.Monitor.all,
            Self.Name,
            May_Add => Self.May_Add and then Status not in 400 .. 499 | 501 | 505)).all;
      Striped : Counted renames On.Statistics (Stripe (On.Stripes));
   begin
      Current := null;
      if Now >= Load (On.Next_Look) then
         Look_At_Clock (On, Now);
      end if;
      Count (Striped, Elapsed, Is_Failed => Status >= 500, Is_Refused => Status in 400 .. 499);
      if CPU /= No_CPU then
         Count_CPU (Striped, CPU);
      end if;
      if Elapsed > Load (On.Threshold) then
         Sum_Up (Self);
         Keep_Example (On, Self, Elapsed, CPU, Status, Path);
      end if;
      if Self.Part_Count > 0 then
         Count_Parts (Self, On);
      end if;
   end Finish;

   ----------------
   -- Statistics --
   ----------------

   procedure Add (To : in out Statistics; Other : Statistics) is
   begin
      Histograms.Add (To.Times, Other.Times);
      To.Count         := To.Count + Other.Count;
      To.Errors        := To.Errors + Other.Errors;
      To.Client_Errors := To.Client_Errors + Other.Client_Errors;
      To.Total         := To.Total + Other.Total;
      To.CPU           := To.CPU + Other.CPU;
      To.Max           := Word'Max (To.Max, Other.Max);
   end Add;

   function Merged (Item : Counted) return Statistics is
   begin
      return Result : Statistics do
         Histograms.Add (Result.Times, Item.Times);
         Result.Count         := Histograms.Count (Result.Times);
         Result.Errors        := Load (Item.Errors);
         Result.Client_Errors := Load (Item.Client_Errors);
         Result.Total         := Load (Item.Total);
         Result.CPU           := Load (Item.CPU);
         Result.Max           := Load (Item.Max);
      end return;
   end Merged;

   function Merged (Item : Page) return Statistics is
   begin
      return Result : Statistics do
         for Each of Item.Statistics loop
            Add (Result, Merged (Each));
         end loop;
      end return;
   end Merged;

   function Page_Of (Self : Monitor; Name : String) return Page_Access is
     (if Name = Other then Self.Pages (0)
      elsif Name = No_Request then Self.Unassigned
      else
        (declare
            Number : constant Natural :=
              Found (Self.Page_Names, Name, Folded_Names.Hash (Name));
         begin
            (if Number = 0 then null else Self.Pages (Number))));

   function Page_Statistics (Self : Monitor; Page : String) return Statistics is
      Item : constant Page_Access := Page_Of (Self, Page);
   begin
      return (if Item = null then (others => <>) else Merged (Item.all));
   end Page_Statistics;

   function Query_Statistics (Self : Monitor; Page, Query : String) return Statistics is
      Item   : constant Page_Access := Page_Of (Self, Page);
      Number : constant Query_Number :=
        Found (Self.Query_Names, Query, Folded_Names.Hash (Query));
   begin
      return
        (if Item = null or else (Number = 0 and then Query /= Other)
           or else Item.Queries (Number) = null
         then (others => <>)
         else Merged (Item.Queries (Number).all));
   end Query_Statistics;

   procedure Visit_Pages
     (Self  : in out Monitor'Class;
      Visit : not null access procedure (Item : in out Page; Name : String))
   is
      procedure Visit_Counted (Item : in out Page; Name : String) is
      begin
         if (for some Each of Item.Statistics => Load (Each.Count) > 0) then
            Visit (Item, Name);
         end if;
      end Visit_Counted;
   begin
      for K in 1 .. Used (Self.Page_Names) loop
         Visit_Counted (Self.Pages (K).all, Text (Self.Page_Names, K));
      end loop;
      Visit_Counted (Self.Pages (0).all, Other);
      Visit_Counted (Self.Unassigned.all, No_Request);
   end Visit_Pages;

   ------------
   -- Memory --
   ------------

   overriding procedure Initialize (Self : in out Monitor) is
   begin
      Self.Started_Ms := Unix_Milliseconds;
      Self.Pages (0) := new Page (Self.Hours, Self.Max_Queries, Self.Stripes);
      Self.Unassigned := new Page (Self.Hours, Self.Max_Queries, Self.Stripes);
   end Initialize;

   procedure Free is new Ada.Unchecked_Deallocation (Page, Page_Access);
   procedure Free is new Ada.Unchecked_Deallocation (Counted, Counted_Access);

   procedure Free_All (Item : in out Page_Access) is
      Pair : Counted_Access;
   begin
      if Item /= null then
         for Query in Item.Queries'Range loop
            Pair := Item.Queries (Query);
            Free (Pair);
         end loop;
         Free (Item);
      end if;
   end Free_All;

   overriding procedure Finalize (Self : in out Monitor) is
      Item : Page_Access;
   begin
      for Number in Self.Pages'Range loop
         Item := Self.Pages (Number);
         Self.Pages (Number) := null;
         Free_All (Item);
      end loop;
      Free_All (Self.Unassigned);
   end Finalize;

end Appserver.Monitors;
