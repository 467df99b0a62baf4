--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;

package body Benchlab.Crews is

   use Ada.Exceptions;
   use type Check_Value;

   procedure Free is new Ada.Unchecked_Deallocation (Hand, Hand_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Crews.Hall, Hall_Reference);

   procedure Meet (Barrier : in out Synchronous_Barrier) is
      Ignored : Boolean;
   begin
      Wait_For_Release (Barrier, Ignored);
   end Meet;

   -----------
   -- Tasks --
   -----------

   procedure Do_Share (Member : in out Member_Data) is
   begin
      Member.Check := 0;
      Member.Units := 0;
      Save_Occurrence (Member.Failure, Null_Occurrence);
      if Member.Share > 0 then
         Work
           (Member.Worker, Operation_Count (Member.Share),
            Member.Recorder, Member.Check, Member.Units);
      end if;
   exception
      when Error : others =>
         Save_Occurrence (Member.Failure, Error);
   end Do_Share;

   task body Hand is
   begin
      loop
         Meet (Hall.Start);
         exit when Hall.Over;
         Do_Share (Hall.Members (Number));
         Meet (Hall.Stop);
      end loop;
   end Hand;

   procedure Gather (Self : in out Crew; Size : Worker_Number) is
   begin
      Self.Hall := new Crews.Hall (Size => Size, Meeting => Size + 1);
      for Number in 1 .. Size loop
         Self.Hall.Hands (Number) := new Hand (Self.Hall, Number);
      end loop;
   end Gather;

   --  A task may only be freed when it has ended

   overriding procedure Finalize (Self : in out Crew) is
   begin
      if Self.Hall = null then
         return;
      end if;
      Self.Hall.Over := True;
      Meet (Self.Hall.Start);
      for Hand of Self.Hall.Hands loop
         while not Hand'Terminated loop
            delay 0.000_1;
         end loop;
         Free (Hand);
      end loop;
      Free (Self.Hall);
   end Finalize;

   -------------
   -- Batches --
   -------------

   procedure Perform
     (Self       : in out Crew;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Members : Member_List renames Self.Hall.Members;
      Size    : constant Unit_Count := Unit_Count (Self.Size);
   begin
      for Number in Members'Range loop
         Members (Number).Share :=
           (Unit_Count (Operations) + Size - Unit_Count (Number)) / Size;
      end loop;
      Meet (Self.Hall.Start);
      Meet (Self.Hall.Stop);
      Check := 0;
      Units := 0;
      for Member of Members loop
         if Exception_Identity (Member.Failure) /= Null_Id then
            Reraise_Occurrence (Member.Failure);
         end if;
         Check := Check + Member.Check;
         Units := Units + Member.Units;
      end loop;
   end Perform;

   function Measured (Self : Crew) return Latencies.Recorder is
   begin
      return Result : Latencies.Recorder do
         for Member of Self.Hall.Members loop
            if Member.Share > 0 then
               Result.Add (Member.Recorder);
            end if;
         end loop;
      end return;
   end Measured;

end Benchlab.Crews;
