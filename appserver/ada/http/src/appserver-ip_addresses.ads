--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  IP addresses and blocks of them (CIDR, RFC 4632), without the heap.

pragma Ada_2022;

with Interfaces;

package Appserver.IP_Addresses with Preelaborate is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Address is private;
   --  IPv4 or IPv6. "::ffff:192.0.2.1" is the IPv4 address 192.0.2.1 (RFC 4291, 2.5.5.2).

   No_Address : constant Address;
   --  "::"

   Address_Error : exception;
   --  A text is not a valid address or block

   function Is_Address (Text : String) return Boolean;
   --  Such as "192.0.2.1" and "2001:db8::1" (RFC 4291, 2.2), without port and zone

   function Value (Text : String) return Address;
   --  Address_Error if it is none

   function Image (Self : Address) return String;
   --  In lower case, the longest run of zeros as "::" (RFC 5952)

   function Is_IPv4 (Self : Address) return Boolean;

   type Octets is array (Positive range <>) of Interfaces.Unsigned_8;

   function From_Octets (Bytes : Octets) return Address
     with Pre => Bytes'Length in 4 | 16;
   --  In the network's order

   ------------
   -- Blocks --
   ------------

   type Address_Block is private;

   function Block (Text : String) return Address_Block;
   --  From "10.0.0.0/8", "2001:db8::/32", or a single address without a "/". Bits behind the prefix
   --  are ignored. Address_Error for other texts.

   function Contains (Self : Address_Block; Item : Address) return Boolean;
   --  A block of IPv6 contains no IPv4 address

   type Block_List is array (Positive range <>) of Address_Block;

   function Contains (Self : Block_List; Item : Address) return Boolean is
     (for some Each of Self => Contains (Each, Item));

private

   use type Interfaces.Unsigned_8;

   type Address is record
      Bytes : Octets (1 .. 16) := [others => 0];
   end record;
   --  An IPv4 address is ::ffff:0:0/96 and itself

   No_Address : constant Address := (others => <>);

   IPv4_Prefix : constant Octets (1 .. 12) := [1 .. 10 => 0, 11 .. 12 => 16#FF#];

   type Address_Block is record
      First : Address;
      Bits  : Natural range 0 .. 128 := 128;
   end record;

   function Is_IPv4 (Self : Address) return Boolean is (Self.Bytes (1 .. 12) = IPv4_Prefix);

   function From_Octets (Bytes : Octets) return Address is
     (if Bytes'Length = 4 then (Bytes => IPv4_Prefix & Bytes) else (Bytes => Bytes));

end Appserver.IP_Addresses;
