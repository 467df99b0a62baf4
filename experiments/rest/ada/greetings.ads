--  SPDX-License-Identifier: Apache-2.0
--
--  Checks the content of greetings that clients send.

with Interfaces;

package Greetings is

   function Is_Number (Text : String) return Boolean is
     (Text'Length in 1 .. 6 and then (for all C of Text => C in '0' .. '9'));
   --  Returns True if Text is a number from 0 to 999999, with up to 6 digits

   function Number_Of (Text : String) return Interfaces.Integer_64 is
     (Interfaces.Integer_64'Value (Text))
     with Pre => Is_Number (Text);

   function Is_Name (Text : String) return Boolean is
     (Text'Length in 1 .. 32
      and then (for all C of Text =>
                  C in 'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | ' ' | '.' | ''' | '"' | '-'));

end Greetings;
