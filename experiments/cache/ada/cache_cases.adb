--  SPDX-License-Identifier: Apache-2.0

with Resident_Memory;

package body Cache_Cases is

   use type Fields.Metric_Value;
   use type Seeded_Sequences.Input_Index;

   Max_Threads : constant := 1_024;
   Max_Entries : constant := 1_000_000;
   --  The maximum number of entries in the case "write", and the number of entries in the case
   --  "wait"

   Capacity : constant := 1_000;
   --  The capacity of the map in the case "evict"

   Old_Keys : constant := 1_000;
   New_Keys : constant := 1_000;
   --  In the case "lost", the number of keys in the map before an operation, and the number of keys
   --  that the operation puts

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "read_only" then new Replay_Case (Writes => False)
      elsif Name = "read_mostly" then new Replay_Case (Writes => True)
      elsif Name = "write" then new Write_Case
      elsif Name = "wait" then new Wait_Case
      elsif Name = "lost" then new Lost_Case
      elsif Name = "evict" then new Evict_Case
      else null);

   -------------
   -- The map --
   -------------

   function Scheme_Of is new Fields.Choice_Of (Scheme);

   procedure Make_Map
     (Self      : in out Shared_Data;
      Arguments : Fields.Field_List;
      Entries   : Natural;
      Writes    : Boolean := True) is
   begin
      Self.Scheme := Scheme_Of (Arguments, "scheme");
      if (Self.Scheme = Read_Write_Lock) /= Readers_Share_Lock then
         raise Unsupported_Error with
           "this scheme requires the other locking policy: " & Arguments.Text ("scheme");
      end if;
      if Self.Scheme = Unsynchronized and then Writes then
         raise Unsupported_Error with "the unsynchronized map is read-only";
      end if;
      Self.Owned.Map := New_Map (Self.Scheme, Entries);
   end Make_Map;

   overriding procedure Finalize (Self : in out Owned_Map) is
   begin
      Free (Self.Map);
   end Finalize;

   -----------
   -- Tasks --
   -----------

   function Threads (Arguments : Fields.Field_List) return Groups.Worker_Number is
     (Groups.Worker_Number (Arguments.Number ("threads", 1, Max_Threads)));

   procedure Start
     (Group : in out Groups.Group;
      Size  : Groups.Worker_Number;
      Kind  : Work_Kind;
      Data  : not null access Shared_Data) is
   begin
      Group.Start (Size);
      for Number in 1 .. Size loop
         declare
            Worker : Cache_Cases.Worker renames Group.Member (Number).all;
         begin
            Worker.Data   := Data.all'Unchecked_Access;
            Worker.Kind   := Kind;
            Worker.First  := Unsigned_64 (Number - 1);
            Worker.Stride := Unsigned_64 (Size);
         end;
      end loop;
   end Start;

   --  Performs one access, and adds the value read to Check

   procedure Do_Access
     (Map : in out Maps.Cache'Class; This : Traces.Cache_Access; Check : in out Check_Value)
   is
      Element  : Unsigned_64 := 0;
      Is_Found : Boolean;
   begin
      if This.Reads then
         Map.Get (This.Key, Element, Is_Found);
         Check := Check + Element;
      else
         Map.Put (This.Key, This.Key + 1);
      end if;
   end Do_Access;

   procedure Work
     (Self       : in out Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count)
   is
      Map   : Maps.Cache'Class renames Self.Data.Owned.Map.all;
      Trace : Traces.Trace renames Self.Data.Trace;
      K     : Unsigned_64 := Self.First;
   begin
      Recorder.Start;
      case Self.Kind is
         when Replay =>
            for Operation in 1 .. Operations loop
               Do_Access (Map, Trace (Seeded_Sequences.Input_Index'Mod (K)), Check);
               K := K + Self.Stride;
            end loop;
         when Replay_With_Laps =>
            for Operation in 1 .. Operations loop
               Do_Access (Map, Trace (Seeded_Sequences.Input_Index'Mod (K)), Check);
               Recorder.Lap;
               K := K + Self.Stride;
            end loop;
         when Put_New_Keys =>
            for Operation in 1 .. Operations loop
               Map.Put (Old_Keys + K, Old_Keys + K + 1);
               K := K + Self.Stride;
            end loop;
      end case;
      Units := Unit_Count (Operations);
   end Work;

   -------------------------------
   -- read_only and read_mostly --
   -------------------------------

   function Reads (Arguments : Fields.Field_List) return Traces.Percentage is
      Percent : constant String := Arguments.Text ("reads");
   begin
      return
        (if Percent = "99" then 99 elsif Percent = "90" then 90
         else raise Unsupported_Error with "expected 99 or 90 percent reads, got " & Percent);
   end Reads;

   overriding procedure Open
     (Self      : in out Replay_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);

      Size : constant Groups.Worker_Number := Threads (Arguments);
   begin
      Self.Data.Trace :=
        Traces.Zipf (Inputs, Reads => (if Self.Writes then Reads (Arguments) else 100));
      Make_Map (Self.Data, Arguments, Traces.Zipf_Keys, Self.Writes);
      Start (Self.Group, Size, Replay, Self.Data'Access);
   end Open;

   overriding procedure Perform
     (Self       : in out Replay_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Self.Group.Perform (Operations, Check, Units);
   end Perform;

   -----------
   -- write --
   -----------

   overriding procedure Open
     (Self      : in out Write_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);

      Entries : constant Unsigned_64 := Arguments.Number ("entries", 1, Max_Entries);
   begin
      Self.Data.Trace := Traces.Uniform (Inputs, Keys => Entries, Reads => False);
      Make_Map (Self.Data, Arguments, Natural (Entries));
   end Open;

   --  The check is the sum of the values put, and the value found for the last key

   overriding procedure Perform
     (Self       : in out Write_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Map  : Maps.Cache'Class renames Self.Data.Owned.Map.all;
      Last : Unsigned_64 := 0;
   begin
      Check := 0;
      for K in 0 .. Unsigned_64 (Operations) - 1 loop
         Last := Self.Data.Trace (Seeded_Sequences.Input_Index'Mod (K)).Key;
         Map.Put (Last, Last + 1);
         Check := Check + Last + 1;
      end loop;
      Do_Access (Map, (Key => Last, Reads => True), Check);
      Units := Unit_Count (Operations);
   end Perform;

   ----------
   -- wait --
   ----------

   overriding procedure Open
     (Self      : in out Wait_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);
   begin
      Self.Data.Trace := Traces.Uniform (Inputs, Keys => Max_Entries, Reads => True);
      Make_Map (Self.Data, Arguments, Max_Entries);
      Start (Self.Group, 1, Replay_With_Laps, Self.Data'Access);
   end Open;

   --  One task reads while another task writes continuously

   overriding procedure Perform
     (Self       : in out Wait_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Over : Boolean := False with Atomic;

      task Writer is
         entry Begun;
      end Writer;

      task body Writer is
         Map : Maps.Cache'Class renames Self.Data.Owned.Map.all;
         K   : Seeded_Sequences.Input_Index := 0;
         Key : Unsigned_64;
      begin
         accept Begun;
         while not Over loop
            Key := Self.Data.Trace (K).Key;
            Map.Put (Key, Key + 1);
            K := K + 1;
         end loop;
      end Writer;

   begin
      Resident_Memory.Reset_Peak;
      Writer.Begun;
      Self.Group.Perform (Operations, Check, Units);
      Over := True;
      while not Writer'Terminated loop
         delay 0.000_1;
      end loop;
      Self.Peak := Fields.Metric_Value (Resident_Memory.Peak);
   end Perform;

   overriding function Metrics (Self : Wait_Case) return Fields.Field_List is
   begin
      return Result : Fields.Field_List do
         Result.Add ("peak", Self.Peak);
      end return;
   end Metrics;

   ----------
   -- lost --
   ----------

   overriding procedure Open
     (Self      : in out Lost_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs, Settings);

      Size : constant Groups.Worker_Number := Threads (Arguments);
   begin
      Make_Map (Self.Data, Arguments, Old_Keys);
      Start (Self.Group, Size, Put_New_Keys, Self.Data'Access);
   end Open;

   --  For a safe scheme, the check is the number of entries that were found. The metric is the
   --  number of missing entries per 1,000.

   overriding procedure Perform
     (Self       : in out Lost_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Map     : Map_Reference renames Self.Data.Owned.Map;
      Found   : Unit_Count := 0;
      Ignored : Unit_Count;
   begin
      for Operation in 1 .. Operations loop
         Free (Map);
         Map := New_Map (Self.Data.Scheme, Old_Keys);
         Self.Group.Perform (New_Keys, Check, Ignored);
         Found := Found + Unit_Count (Map.Length - Old_Keys);
      end loop;
      Units := Unit_Count (Operations) * New_Keys;
      Check := Check_Value (if Self.Data.Scheme = Unsafe_Copy_On_Write then Units else Found);
      Self.Lost :=
        Fields.Metric_Value (Units - Found) / Fields.Metric_Value (Operations);
   end Perform;

   overriding function Metrics (Self : Lost_Case) return Fields.Field_List is
   begin
      return Result : Fields.Field_List do
         Result.Add ("lost", Self.Lost);
      end return;
   end Metrics;

   -----------
   -- evict --
   -----------

   overriding procedure Open
     (Self      : in out Evict_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);
   begin
      Self.Requests := Traces.Requests (Inputs, Arguments.Text ("trace"));
   end Open;

   --  The check is the sum of the values, which does not depend on the evicted entries

   overriding procedure Perform
     (Self       : in out Evict_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Map    : Map_Reference;
      Misses : Unit_Count := 0;

      function Load (Key : Unsigned_64) return Unsigned_64 is
      begin
         Misses := Misses + 1;
         return Key + 1;
      end Load;
   begin
      Check := 0;
      for Operation in 1 .. Operations loop
         Map := New_Bounded_Map (Capacity);
         for Key of Self.Requests loop
            Check := Check + Map.Get_Or_Load (Key, Load'Access);
         end loop;
         Free (Map);
      end loop;
      Units := Unit_Count (Operations) * Traces.Max_Requests;
      Self.Hit_Rate :=
        100.0 * Fields.Metric_Value (Units - Misses) / Fields.Metric_Value (Units);
   end Perform;

   overriding function Metrics (Self : Evict_Case) return Fields.Field_List is
   begin
      return Result : Fields.Field_List do
         Result.Add ("hit_rate", Self.Hit_Rate);
      end return;
   end Metrics;

end Cache_Cases;
