--  SPDX-License-Identifier: Apache-2.0
--
--  A subject: a program that benchlab controls through its standard input and output.

with Benchlab.Cases;

package Benchlab.Subjects is

   procedure Serve (Name, Library : String; New_Case : Cases.Case_Maker);
   --  Writes the line "hello", and then replies to commands, until the command "quit" or the end of
   --  the input. Library is the driver or the library under test, with its version.

end Benchlab.Subjects;
