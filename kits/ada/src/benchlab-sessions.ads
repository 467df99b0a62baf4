--  SPDX-License-Identifier: Apache-2.0
--
--  A lab's conversation with a subject, without its input and output: command in, reply out.

with Benchlab.Cases;

private with Ada.Finalization;

package Benchlab.Sessions is

   function Hello (Subject, Library : String) return String;
   --  The line that a subject begins with. Library is the driver or the library under test, with
   --  its version. The calling thread is the one that does the work.

   type Session (New_Case : Cases.Case_Maker) is tagged limited private;

   function Answer (Self : in out Session; Line : String) return String
     with Pre => not Self.Is_Over;
   --  Carries the command out. The reply, without its LF; empty after "quit", which has none.

   procedure Wait (Self : in out Session; Commands : Natural);
   --  Lets a server that is open serve, if it has no task of its own, until there is a command to
   --  be read from the descriptor Commands

   function Is_Over (Self : Session) return Boolean;
   --  True once benchlab said "quit"

   type Error_Code is (Usage, Unsupported, Failed);

   function Error_Reply (Code : Error_Code; Message : String) return String;

private

   type Session (New_Case : Cases.Case_Maker) is
     limited new Ada.Finalization.Limited_Controlled with record
      Current : Cases.Case_Reference;
      Over    : Boolean := False;
   end record;

   overriding procedure Finalize (Self : in out Session);

   function Is_Over (Self : Session) return Boolean is (Self.Over);

end Benchlab.Sessions;
