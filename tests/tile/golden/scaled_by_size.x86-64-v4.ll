; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = urem i64 %".4", %".7"
  %".9" = udiv i64 %".4", %".7"
  %".10" = getelementptr ptr, ptr %".1", i64 0
  %".11" = load ptr, ptr %".10"
  %".12" = getelementptr ptr, ptr %".1", i64 1
  %".13" = load ptr, ptr %".12"
  %".14" = trunc i64 %".8" to i32
  %".15" = trunc i64 %".7" to i32
  %".16" = getelementptr i8, ptr %".3", i64 0
  %".17" = insertelement <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".18" = shufflevector <8 x float> %".17", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".19" = getelementptr inbounds float, ptr %".16", i64 0
  store <8 x float> %".18", ptr %".19", align 4
  %".21" = sext i32 0 to i64
  %".22" = sext i32 3 to i64
  br label %"loop"
loop:
  %"i" = phi  i64 [%".21", %"start"], [%".39", %"body"]
  %".24" = icmp slt i64 %"i", %".22"
  br i1 %".24", label %"body", label %"done"
body:
  %".26" = trunc i64 %"i" to i32
  %".27" = sext i32 %".26" to i64
  %".28" = mul i64 %".27", 8
  %".29" = sext i32 0 to i64
  %".30" = add i64 %".28", %".29"
  %".31" = getelementptr float, ptr %".11", i64 %".30"
  %".32" = getelementptr inbounds float, ptr %".16", i64 0
  %".33" = load <8 x float>, ptr %".32", align 4
  %".34" = getelementptr inbounds float, ptr %".31", i64 0
  %".35" = load <8 x float>, ptr %".34", align 4
  %".36" = fadd <8 x float> %".33", %".35"
  %".37" = getelementptr inbounds float, ptr %".16", i64 0
  store <8 x float> %".36", ptr %".37", align 4
  %".39" = add i64 %"i", 1
  br label %"loop"
done:
  %".41" = getelementptr inbounds float, ptr %".16", i64 0
  %".42" = load <8 x float>, ptr %".41", align 4
  %".43" = getelementptr inbounds float, ptr %".13", i64 0
  store <8 x float> %".42", ptr %".43", align 4
  ret void
}
